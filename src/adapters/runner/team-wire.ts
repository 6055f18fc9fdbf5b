// What the daemon and the process that leads a team say to each other: JSON, one line each. Teammates are not to be
// trusted, and run beside that process: what comes from it is checked and bounded.

import * as z from 'zod';
import { RUNTIMES, WORK_MODES } from '../../domain/workflow.ts';
import { count, teamSummary, word } from '../team-summary.ts';

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

export const REASON_MAX = 2_000;

const usage = z.object({ input_tokens: count, output_tokens: count, cost_usd: count, turns: count });

const teamLine = z.discriminatedUnion('type', [
  /** What it comes to; with `alone` the process ends, and one agent does the work. */
  z.object({ type: z.literal('decided'), as: z.enum(['team', 'alone']), reasons: z.array(z.string().max(REASON_MAX)) }),
  z.object({ type: z.literal('said'), who: word, text: z.string() }),
  z.object({ type: z.literal('team'), team: teamSummary }),
  z.object({ type: z.literal('usage'), usage }),
  /** For the daemon's own log. */
  z.object({ type: z.literal('log'), level: z.enum(['info', 'warn', 'error']), words: z.string() }),
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
