// Protocol between the daemon and the process that leads a team: one JSON object a line.
// Untrusted teammates run beside that process, so its lines are validated and bounded.

import * as z from 'zod';
import { RUNTIME_NAMES, WORK_MODES } from '../../agents/rules/runtime.ts';
import { count, teamSummary, word } from './team-summary-decoder.ts';

const commandLine = z.union([z.string(), z.array(z.string())]);

/** First line to the process. The second is `GO`, sent once the daemon has recorded that the process runs. */
export const teamOrder = z.object({
  mode: z.enum(WORK_MODES),
  issue: z.number(),
  life: z.number(),
  text: z.string(),
  round: z.object({ number: z.number(), words: z.string().nullable() }),
  /** Prompt for the issue, from the workflow file. */
  instruction: z.string(),
  budgetUsd: z.number().nullable(),
  /** Environment variables of the agent socket. */
  agentSocket: z.record(z.string(), z.string()),
  tool: z.object({
    runtime: z.enum(RUNTIME_NAMES),
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

/** Lines after `GO`: texts of people, with the keys by which the process reports that a member was shown them. */
const teamWords = z.object({ type: z.literal('words'), text: z.string(), keys: z.array(z.string()).readonly() });

export type TeamWords = z.infer<typeof teamWords>;

/** Parses a line; null for an invalid one. */
export function readTeamWords(line: string): TeamWords | null {
  return parsed(teamWords, line);
}

/** In characters; longer lines are ignored. */
const LINE_MAX = 512 * 1024;

export const REASON_MAX = 2_000;

/** More texts of people do not go into one message. */
const KEYS_MAX = 1_000;

const usage = z.object({ input_tokens: count, output_tokens: count, cost_usd: count, turns: count });

const teamLine = z.discriminatedUnion('type', [
  /** Chosen mode. With `alone`, the process ends and one agent does the work. */
  z.object({ type: z.literal('decided'), as: z.enum(['team', 'alone']), reasons: z.array(z.string().max(REASON_MAX)) }),
  z.object({ type: z.literal('said'), who: word, text: z.string() }),
  z.object({ type: z.literal('team'), team: teamSummary }),
  z.object({ type: z.literal('usage'), usage }),
  /** For the daemon's own log. */
  z.object({ type: z.literal('log'), level: z.enum(['info', 'warn', 'error']), words: z.string() }),
  /** A member was shown these texts. */
  z.object({ type: z.literal('heard'), keys: z.array(word).max(KEYS_MAX) }),
  /** Heartbeat. */
  z.object({ type: z.literal('sign') }),
  /** `isUnheard`: earlier work was handed in, and no member was told what came since. */
  z.object({ type: z.literal('done'), words: z.string(), isUnheard: z.literal(true).optional() }),
  /** `runtime`: no work was possible. `quotaAt`: its quota is used up until then, ms since the epoch. */
  z.object({
    type: z.literal('failed'),
    words: z.string(),
    fault: z.enum(['agent', 'runtime']),
    quotaAt: count.optional(),
  }),
]);

export type TeamLine = z.infer<typeof teamLine>;

/** Parses a line; null for an invalid or too long one. */
export function readTeamLine(line: string): TeamLine | null {
  return line.length > LINE_MAX ? null : parsed(teamLine, line);
}

function parsed<T>(schema: z.ZodType<T>, line: string): T | null {
  try {
    return schema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}
