// What the daemon and the process that leads a team say to each other: JSON, one line each. Teammates are not to be
// trusted, and run beside that process: what comes from it is checked and bounded.

import * as z from 'zod';
import type { TeamSummary } from '../../domain/team/summary.ts';
import { RUNTIMES, WORK_MODES } from '../../domain/workflow.ts';

const commandLine = z.union([z.string(), z.array(z.string())]);

/** The first line to the process; `GO` is the second one, once the daemon has written down that it runs. */
export const teamOrder = z.object({
  mode: z.enum(WORK_MODES),
  issue: z.number(),
  life: z.number(),
  text: z.string(),
  /** The file's prompt for the issue. */
  instruction: z.string(),
  budgetUsd: z.number().nullable(),
  /** Variables that lead to the daemon. */
  desk: z.record(z.string(), z.string()),
  tool: z.object({
    runtime: z.enum(RUNTIMES),
    command: commandLine.nullable(),
    stallTimeoutMs: z.number(),
    turnTimeoutMs: z.number(),
    startTimeoutMs: z.number(),
    permissionMode: z.string(),
    allowedTools: z.array(z.string()),
    env: z.array(z.string()),
  }),
});

export type TeamOrder = z.infer<typeof teamOrder>;

export const GO = 'go';

/** A line of more characters is not read. */
const LINE_MAX = 512 * 1024;

const word = z.string().max(400);
const count = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const status = z.enum(['pending', 'blocked', 'in_progress', 'completed', 'failed']);
const MANY = 200;
export const REASON_MAX = 2_000;

const summary: z.ZodType<TeamSummary> = z.object({
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

const usage = z.object({ input_tokens: count, output_tokens: count, cost_usd: count, turns: count });

const teamLine = z.discriminatedUnion('type', [
  /** What it comes to; with `alone` the process ends, and one agent does the work. */
  z.object({ type: z.literal('decided'), as: z.enum(['team', 'alone']), reasons: z.array(z.string().max(REASON_MAX)) }),
  z.object({ type: z.literal('said'), who: word, text: z.string() }),
  z.object({ type: z.literal('team'), team: summary }),
  z.object({ type: z.literal('usage'), usage }),
  /** It is alive, though nobody says anything. */
  z.object({ type: z.literal('sign') }),
  z.object({ type: z.literal('done'), words: z.string() }),
  /** `runtime`: it could not work at all. */
  z.object({ type: z.literal('failed'), words: z.string(), fault: z.enum(['agent', 'runtime']) }),
]);

export type TeamLine = z.infer<typeof teamLine>;

/** What a line says; null for one that is none of them. */
export function readTeamLine(line: string): TeamLine | null {
  if (line.length > LINE_MAX) return null;
  try {
    return teamLine.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}
