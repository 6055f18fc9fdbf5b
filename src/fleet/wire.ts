// Messages between a coordinator and its workers, decoded: jobs of the queue, and JSON over HTTP.

import * as z from 'zod';
import type { AgentEvent, RunEnd } from '../agents/ports.ts';
import { ISOLATION_MODES, PERMISSION_MODES, RUNTIME_NAMES, WORK_MODES } from '../agents/rules/runtime.ts';
import { failure } from '../base/rules/errors.ts';
import { oneLine } from '../base/rules/text.ts';
import { GATE_MODES } from '../daemon/rules/gate-settings.ts';
import { evidenceSchema } from '../daemon/runners/evidence-decoder.ts';
import { teamSummary } from '../daemon/runners/team-summary-decoder.ts';
import { FLEET_CODES } from './rules/fleet-codes.ts';
import type { FleetJob } from './rules/job.ts';

const word = z.string().max(400);
const text = z.string().max(1024 * 1024);
const sha = z.string().regex(/^[0-9a-f]{40,64}$/);
const count = z.number().int().nonnegative();

/** `proof`: of the coordinator that wrote it. */
export const jobSchema = z.object({
  coordinator: z.url({ protocol: /^https?$/ }),
  insecure: z.boolean(),
  repository: word,
  issue: count,
  life: count,
  attempt: count,
  fence: count,
  labels: z.array(word).max(100),
  version: word,
  measurement: count.optional(),
  lease_ms: z.int().min(1_000),
  proof: word,
});
export type SignedJob = FleetJob & { readonly proof: string };

export const takeSchema = z.object({ id: word, nonce: word, worker: word, version: word, proof: word });

const usage = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cost_usd: z.number(),
  turns: z.number(),
});
export type AgentUsage = z.infer<typeof usage>;

/**
 * An agent at work under a coordinator that is gone. `base`: commit of the default branch that its work goes back to.
 * `used`: what the agent had used when its last attempt began.
 */
export const goOnSchema = takeSchema.extend({
  repository: word,
  issue: count,
  life: count,
  attempt: count,
  base: sha,
  pid: count,
  used: usage,
});
export type GoOnRequest = z.infer<typeof goOnSchema>;

/** The attempt as which it goes on. `used`: as above, of this attempt. */
export const goneOnSchema = z.object({ token: word, attempt: count, fence: count, used: usage });
export type GoneOn = z.infer<typeof goneOnSchema>;

/** `answer` is JSON, so that its proof is of the very text. */
export const goOnAnswerSchema = z.object({ answer: z.string(), proof: word });

/** `order` is JSON, so that its proof is of the very text. */
export const takenSchema = z.object({ token: word, order: z.string(), proof: word });

const commandLine = z.union([z.string(), z.array(z.string())]);
const script = z.string().nullable();

/** All that a worker is told of an attempt. */
export const orderSchema = z.object({
  issue: count,
  life: count,
  attempt: count,
  slug: z.object({ owner: word, repo: word }),
  branch: word,
  default_branch: word,
  /** The commit of the default branch that the work goes back to. */
  base: sha,
  /** The commit that the branch begins at. */
  head: sha,
  /** Where the default branch stands, which holds all that the work begins with; left out: it does not. */
  default_head: sha.optional(),
  /** A commit on top of it, with the files that were not committed; null: there are none. */
  files: sha.nullable(),
  prompt: text,
  issue_text: text,
  round: z.object({ number: count, words: text.nullable(), isMerge: z.boolean() }).nullable(),
  budget_usd: z.number().nullable(),
  max_bundle_bytes: count,
  /** Finished work is only measured: no agent is started, and nothing is handed in. */
  measures: z.literal(true).optional(),
  author: z.object({ name: word, email: word }).nullable(),
  /** The span of the attempt, where the coordinator traces it. */
  traceparent: word.optional(),
  hooks: z.object({
    afterCreate: script,
    beforeRun: script,
    afterRun: script,
    beforeRemove: script,
    timeoutMs: z.number(),
  }),
  gate: z.object({ mode: z.enum(GATE_MODES), timeoutMs: z.number(), maxRounds: z.number() }),
  tool: z.object({
    runtime: z.enum(RUNTIME_NAMES),
    command: commandLine.nullable(),
    agent: word.nullable(),
    mode: z.enum(WORK_MODES),
    stallTimeoutMs: z.number(),
    turnTimeoutMs: z.number(),
    startTimeoutMs: z.number(),
    permissionMode: z.enum(PERMISSION_MODES),
    allowedTools: z.array(word),
    isolation: z.enum(ISOLATION_MODES),
    env: z.array(word),
  }),
});
export type Order = z.infer<typeof orderSchema>;

const event: z.ZodType<AgentEvent> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), sessionId: word }),
  z.object({ type: z.literal('message'), text }),
  z.object({ type: z.literal('tool_started'), id: word, name: word, limitMs: z.number().nullable() }),
  z.object({ type: z.literal('tool_ended'), id: word }),
  z.object({ type: z.literal('usage'), usage }),
  z.object({ type: z.literal('team'), team: teamSummary }),
  z.object({ type: z.literal('log'), level: z.enum(['info', 'warn', 'error']), text }),
  z.object({ type: z.literal('activity'), name: word }),
]);

/** What came since the last beat. `wants`: words for a team at work. */
export const beatSchema = z.object({
  events: z.array(event).max(1_000),
  output: text,
  heard: z.array(word).max(1_000),
  wants: z.boolean(),
  /** Further attempts of the worker that are at work. */
  others: z
    .array(z.object({ id: word, token: word }))
    .max(1_000)
    .optional(),
});
export type Beat = z.infer<typeof beatSchema>;

const ids = z.array(word);

/** `stop`: the agent is to be ended. `over`: the attempt is not the worker's any more. */
export const beatAnswerSchema = z.object({
  stop: z.boolean(),
  words: z.object({ text: z.string(), keys: z.array(z.string()) }).nullable(),
  others: z.object({ stop: ids, over: ids }).optional(),
});

/** What an agent asks. `attempt` and the others: `RequestPlace`. */
export const askSchema = z.object({ request: z.unknown(), attempt: count, number: count, isRepeated: z.boolean() });

export const startedSchema = z.object({ pid: count });
export const turnAnswerSchema = z.object({ prompt: text.nullable() });

/** Beside the bytes of a bundle: the commit of the branch, and one on top of it with what is not committed. */
export const workSchema = z.object({ head: sha, files: sha.nullable() });
export type WorkCommits = z.infer<typeof workSchema>;

/** Work that a worker keeps until it is published. `handed`: a coordinator has taken it. */
const keptSchema = z.object({
  id: word,
  issue: count,
  life: count,
  attempt: count,
  head: sha,
  files: sha.nullable(),
  /** Commit of the default branch that it goes back to. */
  base: sha,
  handed: z.boolean(),
});
export type Kept = z.infer<typeof keptSchema>;

/** `kept` is JSON, so that its proof is of the very text. */
export const offerSchema = z.object({ worker: word, nonce: word, repository: word, kept: z.string(), proof: word });
export const offeredSchema = z.array(keptSchema).max(100);

/** `answer` is JSON, too. */
export const offerAnswerSchema = z.object({ answer: z.string(), proof: word });
/** `forget`: nobody needs it any more. `bring`: it is to be handed in, with this token. */
export const fatesSchema = z.object({
  forget: z.array(word),
  bring: z.array(z.object({ id: word, token: word })),
});
export type Fates = z.infer<typeof fatesSchema>;

const runEnd: z.ZodType<RunEnd> = z.union([
  z.object({ ok: z.literal(true), words: text, isUnheard: z.literal(true).optional() }),
  z.object({
    ok: z.literal(false),
    words: text,
    fault: z.enum(['agent', 'runtime']),
    resumable: z.boolean(),
    quotaAt: z.number().optional(),
    /** A limit that passed there. */
    cutOff: z.object({ kind: z.enum(['stalled', 'turn_timeout']), afterMs: z.number() }).optional(),
  }),
]) as z.ZodType<RunEnd>;

export const endSchema = z.object({
  end: runEnd,
  /** The worker ends, and hands the work back. */
  returned: z.boolean(),
  evidence: evidenceSchema.nullable(),
});
export type WorkerEnd = z.infer<typeof endSchema>;

export const errorSchema = z.object({ error: z.object({ code: word, message: text }) });

/** Throws a ToolError that names what is wrong. */
export function decodeJson<T>(schema: z.ZodType<T>, body: string): T {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw failure(FLEET_CODES.fleet_request_invalid, { said: 'it is not JSON' });
  }
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [first] = read.error.issues;
  const said = oneLine(`${first?.path.join('.') ?? ''} ${first?.message ?? ''}`, 200);
  throw failure(FLEET_CODES.fleet_request_invalid, { said });
}
