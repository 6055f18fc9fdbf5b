// A tracer that keeps its spans: their tree, their times, and how they ended.

import type { Facts, Span, Tracer } from '../../src/base/rules/span.ts';

export class RecordedSpans implements Tracer {
  /** `name < parent`, in the order of their starts; `!code` where it failed, `…` while it has not ended. */
  readonly lines: string[] = [];
  readonly facts = new Map<string, Facts>();
  readonly startedAt = new Map<string, number | undefined>();

  start(name: string, facts: Facts, of: { readonly parent?: string | undefined; readonly at?: number } = {}): Span {
    return this.#begin(name, of.parent, facts, of.at);
  }

  #begin(name: string, parent: string | undefined, facts: Facts, at: number | undefined): Span {
    const line = parent === undefined ? name : `${name} < ${parent}`;
    const index = this.lines.push(`${line} …`) - 1;
    this.facts.set(name, facts);
    this.startedAt.set(name, at);
    let isOver = false;
    return {
      traceparent: name,
      start: (below, more = {}, since) => this.#begin(below, name, more, since),
      end: (code, more) => {
        if (isOver) return;
        isOver = true;
        this.lines[index] = code === undefined ? line : `${line} !${code}`;
        this.facts.set(name, { ...this.facts.get(name), ...more });
      },
    };
  }
}
