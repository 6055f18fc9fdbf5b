// Decodes a team in short: from the process that leads it, and from the daemon's journal. Each part is bounded.

import * as z from 'zod';
import type { TeamSummary } from '../../agents/rules/team-summary.ts';

/** A name, or one short line. */
export const word = z.string().max(400);
export const count = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const status = z.enum(['pending', 'blocked', 'in_progress', 'completed', 'failed']);
const MANY = 200;
export const teamSummary: z.ZodType<TeamSummary> = z.object({
  team: word,
  state: word,
  pattern: word.nullable(),
  subject: word,
  fallback: word.nullable(),
  members: z.array(z.object({ name: word, phase: word, task: word.nullable(), cost_usd: count })).max(MANY),
  task_counts: z.record(status, count),
  tasks: z
    .array(
      z.object({
        id: word,
        subject: word,
        status,
        owner: word.nullable(),
        // What was written before there was any has none.
        note: word.nullable().default(null),
        started_at: word.nullable(),
        seconds: count.nullable(),
        cost_usd: count,
      }),
    )
    .max(MANY),
  messages: z.object({
    count,
    last: z.array(z.object({ at: word, from: word, to: word, type: word, content: word })).max(MANY),
  }),
  gate: z
    .object({
      ok: z.boolean(),
      coverage: z.number().nullable(),
      checks: z.array(z.object({ check: word, outcome: word, figure: word.nullable() })).max(MANY),
      scores: z.array(z.object({ dimension: word, score: z.number().nullable(), state: word })).max(MANY),
    })
    .nullable(),
  rejections: count,
  cost_usd: count,
});
