// Reads the headless event stream of Claude Code: one JSON object a line. Pure; shapes as versions 2.1.33 to 2.1.331 print them.

import * as z from 'zod';
import { refusal, textOf } from '../base/rules/codes.ts';
import { clip, oneLine } from '../base/rules/text.ts';
import type { AgentEvent, RunEnd } from './ports.ts';
import { AGENT_CODES } from './rules/agent-codes.ts';

/** A field of another shape than expected counts as absent: it takes nothing from the rest of its line. */
const maybe = <T extends z.ZodType>(shape: T) => shape.optional().catch(undefined);
const text = maybe(z.string());
const anything = maybe(z.unknown());
const count = z.int().nonnegative().default(0).catch(0);

const tokens = maybe(
  z.object({
    input_tokens: count,
    output_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
  }),
);

const block = z
  .object({ type: z.string(), text, id: text, name: text, input: anything, tool_use_id: text })
  .catch({ type: 'unknown' });

const line = z.object({
  type: z.string(),
  subtype: text,
  session_id: text,
  message: maybe(z.object({ id: text, content: maybe(z.union([z.string(), z.array(block)])), usage: tokens })),
  result: anything,
  errors: maybe(z.array(z.unknown())),
  is_error: maybe(z.boolean()),
  total_cost_usd: z.number().nonnegative().default(0).catch(0),
  usage: tokens,
  api_error_status: maybe(z.number()),
  terminal_reason: text,
  error_status: maybe(z.number()),
  error: anything,
  attempt: maybe(z.number()),
  /** From 2.1.100 on. `resetsAt`: seconds since the epoch. */
  rate_limit_info: maybe(
    z.object({ status: text, resetsAt: maybe(z.number().positive()), isUsingOverage: maybe(z.boolean()) }),
  ),
});

type Line = z.output<typeof line>;
type Tokens = { readonly input: number; readonly output: number };

/** A turn that ended, as the host sums it up. */
export type TurnResult = RunEnd;

export type StreamItem =
  | { readonly type: 'event'; readonly event: AgentEvent }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'result'; readonly result: TurnResult }
  /** The host's credential was turned away: it would go on trying for minutes. */
  | { readonly type: 'unauthorized'; readonly words: string };

const CREDENTIAL_WORDS =
  /invalid api key|not logged in|please run \/login|oauth token (has )?expired|authentication[_ ]error|credit balance is too low/i;
/** Early versions tell no status of a limit. */
const LIMIT_WORDS = /hit your ([\w-]+ )?limit|limit reached/i;
const SERVICE_WORDS =
  /^API Error|overloaded|rate limit|usage limit|limit reached|hit your ([\w-]+ )?limit|connection error|request timed out|unable to connect/i;
/** The service does not take the conversation as it is: sent again it would be refused again. */
const REFUSED_STATUS = [400, 413, 422];

function sum(usage: NonNullable<z.output<typeof tokens>>): Tokens {
  return {
    input: usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens,
    output: usage.output_tokens,
  };
}

function greater(a: Tokens, b: Tokens): Tokens {
  return { input: Math.max(a.input, b.input), output: Math.max(a.output, b.output) };
}

/** JSON for people to read; nothing for what is nested so deep that it cannot be written. */
function shown(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}

function limitOf(name: string, input: unknown): number | null {
  if (name !== 'Bash' || typeof input !== 'object' || input === null || !('timeout' in input)) return null;
  return typeof input.timeout === 'number' ? input.timeout : null;
}

function summaryOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  for (const key of ['command', 'file_path', 'path', 'pattern', 'description', 'query', 'url']) {
    const value: unknown = Reflect.get(input, key);
    if (typeof value === 'string') return oneLine(value, 160);
  }
  return oneLine(shown(input), 160);
}

/** One session's stream. `push` takes a line and gives what it means, in order. */
export class ClaudeStream {
  /** Tokens by message id of the turn under way: a message is printed once for each of its blocks. */
  readonly #messages = new Map<string, Tokens>();
  #finished: Tokens = { input: 0, output: 0 };
  #cost = 0;
  #turns = 0;
  /** When the quota that is used up is there again, ms since the epoch; null: none is used up. */
  #quotaAt: number | null = null;

  push(text: string): StreamItem[] {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return text.trim() === '' ? [] : [{ type: 'text', text: `${text}\n` }];
    }
    const parsed = line.safeParse(value);
    if (!parsed.success) return [{ type: 'event', event: { type: 'activity', name: 'unknown' } }];
    const row = parsed.data;
    switch (row.type) {
      case 'system':
        return this.#system(row);
      case 'assistant':
        return this.#assistant(row);
      case 'user':
        return this.#user(row);
      case 'result':
        return this.#result(row);
      case 'rate_limit_event': {
        const { status, resetsAt, isUsingOverage } = row.rate_limit_info ?? {};
        const isSpent = status === 'rejected' && isUsingOverage !== true;
        this.#quotaAt = isSpent && resetsAt !== undefined ? resetsAt * 1000 : null;
        return [{ type: 'event', event: { type: 'activity', name: row.type } }];
      }
      default:
        return [{ type: 'event', event: { type: 'activity', name: oneLine(row.type, 40) } }];
    }
  }

  #system(row: Line): StreamItem[] {
    const name = oneLine(`system/${row.subtype ?? ''}`, 60);
    const items: StreamItem[] = [{ type: 'event', event: { type: 'activity', name } }];
    if (row.subtype === 'init' && row.session_id !== undefined)
      items.push({ type: 'event', event: { type: 'session', sessionId: row.session_id } });
    if (row.subtype === 'api_retry') {
      const why = typeof row.error === 'string' ? row.error : shown(row.error);
      const words = `the model's service answered ${row.error_status ?? 'nothing'} (${oneLine(why || 'no reason given', 120)})`;
      items.push({ type: 'text', text: `! ${words}, attempt ${row.attempt ?? '?'}\n` });
      if (row.error_status === 401 || row.error_status === 403) items.push({ type: 'unauthorized', words });
    }
    return items;
  }

  #assistant(row: Line): StreamItem[] {
    const items: StreamItem[] = [];
    const { message } = row;
    if (message?.usage !== undefined && message.id !== undefined) {
      const used = sum(message.usage);
      this.#messages.set(message.id, greater(this.#messages.get(message.id) ?? used, used));
      items.push(this.#usage());
    }
    const content: readonly z.output<typeof block>[] =
      typeof message?.content === 'string' ? [{ type: 'text', text: message.content }] : (message?.content ?? []);
    for (const part of content) {
      if (part.type === 'text' && part.text !== undefined && part.text.trim() !== '') {
        items.push(
          { type: 'event', event: { type: 'message', text: part.text } },
          { type: 'text', text: `${part.text.trimEnd()}\n` },
        );
      } else if (part.type === 'tool_use' && part.id !== undefined) {
        const name = part.name ?? 'tool';
        items.push({
          type: 'event',
          event: { type: 'tool_started', id: part.id, name, limitMs: limitOf(name, part.input) },
        });
        items.push({ type: 'text', text: `> ${name} ${summaryOf(part.input)}\n` });
      }
    }
    return items.length === 0 ? [{ type: 'event', event: { type: 'activity', name: 'assistant' } }] : items;
  }

  #user(row: Line): StreamItem[] {
    const content = typeof row.message?.content === 'string' ? [] : (row.message?.content ?? []);
    const items: StreamItem[] = content.flatMap((part) =>
      part.type === 'tool_result' && part.tool_use_id !== undefined
        ? [{ type: 'event', event: { type: 'tool_ended', id: part.tool_use_id } }]
        : [],
    );
    return items.length === 0 ? [{ type: 'event', event: { type: 'activity', name: 'user' } }] : items;
  }

  #result(row: Line): StreamItem[] {
    this.#turns += 1;
    const counted = [...this.#messages.values()].reduce(
      (all, one) => ({ input: all.input + one.input, output: all.output + one.output }),
      { input: 0, output: 0 },
    );
    const turn = greater(row.usage === undefined ? counted : sum(row.usage), counted);
    this.#finished = { input: this.#finished.input + turn.input, output: this.#finished.output + turn.output };
    this.#messages.clear();
    // The host states the cost of all turns of its process so far.
    this.#cost = Math.max(this.#cost, row.total_cost_usd);
    const result = judgeResult(row);
    const isLimit = row.api_error_status === 429 || (!result.ok && LIMIT_WORDS.test(result.words));
    const isQuota = isLimit && !result.ok && result.fault === 'runtime' && this.#quotaAt !== null;
    return [this.#usage(), { type: 'result', result: isQuota ? { ...result, quotaAt: this.#quotaAt ?? 0 } : result }];
  }

  #usage(): StreamItem {
    let { input, output } = this.#finished;
    for (const one of this.#messages.values()) {
      input += one.input;
      output += one.output;
    }
    return {
      type: 'event',
      event: {
        type: 'usage',
        usage: { input_tokens: input, output_tokens: output, cost_usd: this.#cost, turns: this.#turns },
      },
    };
  }
}

/** On an API failure the host's `subtype` is "success": `is_error` tells. */
function judgeResult(row: Line): TurnResult {
  const said = typeof row.result === 'string' ? row.result : '';
  const errors = (row.errors ?? []).map((error) => (typeof error === 'string' ? error : shown(error))).join('; ');
  const subtype = row.subtype ?? '';
  const good = subtype === 'success' || subtype === '';
  if (row.is_error !== true && good) return { ok: true, words: clip(said, 4000) };
  const words = clip(said || errors || (good ? '' : subtype) || 'it ended with an error and no words', 2000);
  if (subtype === 'error_max_budget_usd')
    return {
      ok: false,
      words: textOf(refusal(AGENT_CODES.issue_budget_spent, {})),
      fault: 'agent',
      resumable: true,
    };
  // Early versions state the status in words only.
  const status = row.api_error_status ?? Number(/^API Error: (\d{3})\b/.exec(words)?.[1] ?? 0);
  const service = [401, 403, 404, 429].includes(status) || status >= 500;
  const credential = CREDENTIAL_WORDS.test(words);
  const refused =
    row.terminal_reason === 'prompt_too_long' ||
    /prompt is too long/i.test(words) ||
    (REFUSED_STATUS.includes(status) && !credential);
  return {
    ok: false,
    words,
    fault: !refused && (service || credential || SERVICE_WORDS.test(words)) ? 'runtime' : 'agent',
    resumable: !refused && subtype !== 'error_during_execution',
  };
}
