// Reads the headless event stream of Claude Code: one JSON object a line. Pure; shapes as versions 2.1.33 to 2.1.329 print them.

import * as z from 'zod';
import { clip, oneLine } from '../../domain/text.ts';
import type { AgentEvent } from '../../engine/ports.ts';

/** A number that can be added up and written down, whatever came: what is none, or less than nothing, counts as 0. */
const amount = z
  .number()
  .catch(0)
  .transform((value) => Math.min(Math.max(0, value), Number.MAX_SAFE_INTEGER));

const tokens = z
  .object({
    input_tokens: amount,
    output_tokens: amount,
    cache_creation_input_tokens: amount,
    cache_read_input_tokens: amount,
  })
  .optional()
  .catch(undefined);
type Tokens = NonNullable<z.output<typeof tokens>>;

const status = z.number().nullish().catch(undefined);

const block = z.object({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
});

const line = z.object({
  type: z.string(),
  subtype: z.string().optional(),
  session_id: z.string().optional(),
  message: z
    .object({
      id: z.string().optional(),
      content: z.union([z.string(), z.array(block)]).optional(),
      usage: tokens,
    })
    .optional(),
  result: z.unknown().optional(),
  errors: z.array(z.unknown()).optional(),
  is_error: z.boolean().optional(),
  total_cost_usd: amount,
  usage: tokens,
  api_error_status: status,
  terminal_reason: z.string().nullish(),
  error_status: status,
  error: z.unknown().optional(),
  attempt: status,
  claude_code_version: z.string().optional(),
  parent_tool_use_id: z.string().nullish(),
});

/** A turn that ended, as the host sums it up. */
export type TurnResult =
  | { readonly ok: true; readonly words: string }
  | { readonly ok: false; readonly words: string; readonly fault: 'agent' | 'runtime'; readonly resumable: boolean };

export type StreamItem =
  | { readonly type: 'event'; readonly event: AgentEvent }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'result'; readonly result: TurnResult }
  /** The host's credential was turned away: it would go on trying for minutes. */
  | { readonly type: 'unauthorized'; readonly words: string };

const CREDENTIAL_WORDS =
  /invalid api key|not logged in|please run \/login|oauth token (has )?expired|authentication[_ ]error|credit balance is too low/i;
const SERVICE_WORDS = /^API Error|overloaded|rate limit|connection error|request timed out|unable to connect/i;

function sum(usage: Tokens): { input: number; output: number } {
  return {
    input: usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens,
    output: usage.output_tokens,
  };
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
  return oneLine(JSON.stringify(input) ?? '', 160);
}

/** One session's stream. `push` takes a line and gives what it means, in order. */
export class ClaudeStream {
  /** Tokens by message id of the turn under way: a message is printed once for each of its blocks. */
  readonly #messages = new Map<string, { input: number; output: number }>();
  #finished = { input: 0, output: 0 };
  #cost = 0;
  #turns = 0;

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
      default:
        return [{ type: 'event', event: { type: 'activity', name: oneLine(row.type, 40) } }];
    }
  }

  #system(row: z.output<typeof line>): StreamItem[] {
    const name = oneLine(`system/${row.subtype ?? ''}`, 60);
    const items: StreamItem[] = [{ type: 'event', event: { type: 'activity', name } }];
    if (row.subtype === 'init' && row.session_id !== undefined)
      items.push({ type: 'event', event: { type: 'session', sessionId: row.session_id } });
    if (row.subtype === 'api_retry') {
      const words = `the model's service answered ${row.error_status ?? 'nothing'} (${oneLine(String(row.error ?? 'no reason given'), 120)})`;
      items.push({ type: 'text', text: `! ${words}, attempt ${row.attempt ?? '?'}\n` });
      if (row.error_status === 401 || row.error_status === 403) items.push({ type: 'unauthorized', words });
    }
    return items;
  }

  #assistant(row: z.output<typeof line>): StreamItem[] {
    const items: StreamItem[] = [];
    const { message } = row;
    if (message?.usage !== undefined && message.id !== undefined) {
      this.#messages.set(message.id, sum(message.usage));
      items.push(this.#usage());
    }
    const content =
      typeof message?.content === 'string' ? [{ type: 'text', text: message.content }] : (message?.content ?? []);
    for (const part of content) {
      if (part.type === 'text' && part.text !== undefined && part.text.trim() !== '') {
        items.push(
          { type: 'event', event: { type: 'message', text: part.text } },
          { type: 'text', text: `${part.text.trimEnd()}\n` },
        );
      } else if (part.type === 'tool_use' && 'id' in part && part.id !== undefined) {
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

  #user(row: z.output<typeof line>): StreamItem[] {
    const content = typeof row.message?.content === 'string' ? [] : (row.message?.content ?? []);
    const items: StreamItem[] = content.flatMap((part) =>
      part.type === 'tool_result' && part.tool_use_id !== undefined
        ? [{ type: 'event', event: { type: 'tool_ended', id: part.tool_use_id } }]
        : [],
    );
    return items.length === 0 ? [{ type: 'event', event: { type: 'activity', name: 'user' } }] : items;
  }

  #result(row: z.output<typeof line>): StreamItem[] {
    this.#turns += 1;
    const counted = [...this.#messages.values()].reduce(
      (all, one) => ({ input: all.input + one.input, output: all.output + one.output }),
      { input: 0, output: 0 },
    );
    const stated = row.usage === undefined ? counted : sum(row.usage);
    this.#finished = {
      input: this.#finished.input + Math.max(stated.input, counted.input),
      output: this.#finished.output + Math.max(stated.output, counted.output),
    };
    this.#messages.clear();
    // The host states the cost of all turns of its process so far.
    this.#cost = Math.max(this.#cost, row.total_cost_usd);
    return [this.#usage(), { type: 'result', result: judgeResult(row) }];
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
function judgeResult(row: z.output<typeof line>): TurnResult {
  const said = typeof row.result === 'string' ? row.result : '';
  const errors = (row.errors ?? [])
    .map((error) => (typeof error === 'string' ? error : JSON.stringify(error)))
    .join('; ');
  const subtype = row.subtype ?? '';
  if (row.is_error !== true && (subtype === 'success' || subtype === '')) return { ok: true, words: clip(said, 4000) };
  const words = clip(said || errors || subtype || 'it ended with an error and no words', 2000);
  if (subtype === 'error_max_budget_usd')
    return { ok: false, words: 'the cost limit of the issue is reached', fault: 'agent', resumable: true };
  const tooLong = row.terminal_reason === 'prompt_too_long' || /prompt is too long/i.test(words);
  const status = row.api_error_status ?? null;
  const service =
    status !== null && (status === 401 || status === 403 || status === 404 || status === 429 || status >= 500);
  const runtime = !tooLong && (service || CREDENTIAL_WORDS.test(words) || SERVICE_WORDS.test(words));
  return {
    ok: false,
    words,
    fault: runtime ? 'runtime' : 'agent',
    resumable: !tooLong && subtype !== 'error_during_execution',
  };
}
