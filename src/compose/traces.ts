// Opens the traces of a process, and names the variables that none of its agents gets.

import { systemClock } from '../base/clock.ts';
import type { Logger } from '../base/ports.ts';
import type { Environment } from '../base/rules/environment.ts';
import { otlpSecrets, otlpVariables } from '../base/rules/otlp-settings.ts';
import type { Tracer } from '../base/rules/span.ts';

export type Traces = {
  readonly tracer: Tracer;
  readonly variables: readonly string[];
  readonly secrets: readonly string[];
  readonly close: () => Promise<void>;
};

/**
 * Loads what only traces need. Throws a ToolError.
 * @param env the process's own, before anything is taken out of it
 */
export async function openTraces(env: Environment, log: Logger, command: string): Promise<Traces> {
  const { openTracer } = await import('../base/otlp-tracer.ts');
  const { close, ...tracer } = await openTracer(env, systemClock, log, command);
  return { tracer, variables: otlpVariables(env), secrets: otlpSecrets(env), close };
}
