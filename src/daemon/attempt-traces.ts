// Traces of attempts, made from what goes into the journal: each from its claim, or the time of its retry, to its published work.

import type { Clock } from '../base/ports.ts';
import { type Facts, NO_SPAN, type Span, type Tracer } from '../base/rules/span.ts';
import type { Journal } from './ports.ts';
import type { EffectRecord, JournalRecord } from './rules/record.ts';
import type { DaemonState, Entry, Phase } from './rules/state.ts';

type Open = {
  /** The attempt; work that is published after a restart has a trace of its own. */
  readonly root: Span;
  /** What comes after the agent; null: it is at work. */
  publish: Span | null;
  /** By their keys. */
  readonly effects: Map<string, Span>;
  /** How the attempt ended. */
  code: string | undefined;
  facts: Facts;
};

/** An attempt whose work is in one of them is not over. */
const PUBLISHING: readonly Phase[] = ['publishing', 'giving_up'];

/** Hooks are told apart by the beginning of their keys. */
function nameOf({ effect, key }: EffectRecord): string {
  return effect === 'hook' ? `hook ${key.split(':')[0]}` : effect;
}

export class AttemptTraces {
  readonly #tracer: Tracer;
  readonly #clock: Clock;
  readonly #repository: string;
  readonly #open = new Map<number, Open>();

  /** @param repository `<host>/<owner>/<repo>` */
  constructor(tracer: Tracer, clock: Clock, repository: string) {
    this.#tracer = tracer;
    this.#clock = clock;
    this.#repository = repository;
  }

  /** What the work on an issue belongs to at the moment. */
  spanOf(issue: number): Span {
    const open = this.#open.get(issue);
    return open?.publish ?? open?.root ?? NO_SPAN;
  }

  watch(journal: Journal): Journal {
    return {
      get state() {
        return journal.state;
      },
      append: (record) => {
        const before = 'issue' in record ? journal.state.entries.get(record.issue) : undefined;
        const stored = journal.append(record);
        this.#take(record, before, journal.state);
        return stored;
      },
      close: () => journal.close(),
    };
  }

  /** Ends all that is open. */
  close(): void {
    for (const issue of [...this.#open.keys()]) this.#end(issue, 'interrupted');
  }

  #take(record: JournalRecord, before: Entry | undefined, { entries }: DaemonState): void {
    if (record.type === 'snapshot') return;
    const { issue } = record;
    const isPublishing = PUBLISHING.includes(entries.get(issue)?.phase ?? 'parked');
    if (record.type === 'attempt_started') this.#start(record, before);
    else if (record.type === 'effect_started') this.#startEffect(record, entries.get(issue), isPublishing);
    else if (record.type === 'effect_finished') this.#endEffect(record, undefined);
    else if (record.type === 'effect_failed') this.#endEffect(record, 'effect_failed');
    const open = this.#open.get(issue);
    if (open === undefined) return;
    if (record.type === 'attempt_ended') {
      const { outcome, next } = record;
      open.code = outcome === 'succeeded' ? undefined : outcome;
      open.facts = { outcome, next };
      open.publish = isPublishing ? open.root.start('publish') : open.root;
    }
    if (open.publish !== null && !isPublishing) this.#end(issue, open.code);
  }

  #start({ issue, attempt, runtime }: JournalRecord & { type: 'attempt_started' }, before: Entry | undefined): void {
    this.#end(issue);
    const now = this.#clock.now();
    const since = before?.retryAt ?? (before?.attempt === 0 ? before.claimedAt : now);
    const at = Math.min(since, now);
    const facts = { repository: this.#repository, issue, life: before?.life ?? 1, attempt, runtime };
    const root = this.#tracer.start('attempt', facts, { at });
    root.start('wait', {}, at).end();
    this.#open.set(issue, { root, publish: null, effects: new Map(), code: undefined, facts: {} });
  }

  /** The agent has a span of its own: its effect ends when it has started. */
  #startEffect(record: EffectRecord, entry: Entry | undefined, isPublishing: boolean): void {
    const { issue, effect, key } = record;
    if (effect === 'agent') return;
    if (!this.#open.has(issue) && isPublishing) {
      const facts = { repository: this.#repository, issue, attempt: entry?.attempt ?? 0 };
      const root = this.#tracer.start('publish', facts);
      this.#open.set(issue, { root, publish: root, effects: new Map(), code: undefined, facts: {} });
    }
    this.#open.get(issue)?.effects.set(key, this.spanOf(issue).start(nameOf(record)));
  }

  #endEffect({ issue, key }: EffectRecord, code: string | undefined): void {
    const { effects } = this.#open.get(issue) ?? {};
    effects?.get(key)?.end(code);
    effects?.delete(key);
  }

  #end(issue: number, code?: string): void {
    const open = this.#open.get(issue);
    if (open === undefined) return;
    for (const span of open.effects.values()) span.end(code);
    // Where both are one, the first end counts.
    open.root.end(code, open.facts);
    open.publish?.end();
    this.#open.delete(issue);
  }
}
