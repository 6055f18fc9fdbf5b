// Spans of a trace: how long each step took. Without traces, all of them are one object that does nothing.

/** Numbers, names and codes. No prompt, no code and no secret goes into a trace. */
export type Facts = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** Names the span to another process, as W3C Trace Context; null: nothing is traced. */
  readonly traceparent: string | null;
  /** Begins a span below it. @param at ms since the epoch; now without it */
  start(name: string, facts?: Facts, at?: number): Span;
  /** Only the first end counts. @param code why the step failed; undefined: it did not */
  end(code?: string, facts?: Facts): void;
}

export interface Tracer {
  /** Begins a trace, or goes on with that of another process. @param of `parent`: its traceparent; `at`: as `Span.start` */
  start(name: string, facts: Facts, of?: { readonly parent?: string | undefined; readonly at?: number }): Span;
}

export const NO_SPAN: Span = { traceparent: null, start: () => NO_SPAN, end: () => undefined };

export const NO_TRACER: Tracer = { start: () => NO_SPAN };
