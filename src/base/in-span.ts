// A step as a span of a trace.

import { ToolError } from './rules/errors.ts';
import type { Span } from './rules/span.ts';

/** Acts within a span. A failure is in it by its code. */
export async function inSpan<T>(parent: Span, name: string, act: () => Promise<T>): Promise<T> {
  const span = parent.start(name);
  try {
    const value = await act();
    span.end();
    return value;
  } catch (error) {
    span.end(error instanceof ToolError ? error.code : 'error');
    throw error;
  }
}
