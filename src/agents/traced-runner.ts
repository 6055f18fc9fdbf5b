// A runner whose runs and turns are spans of a trace.

import { NO_SPAN, type Span } from '../base/rules/span.ts';
import type { Runner, RunRequest } from './ports.ts';

/** @param spanOf what the run belongs to */
export function tracedRunner(runner: Runner, spanOf: (request: RunRequest) => Span): Runner {
  return {
    name: runner.name,
    ...(runner.keepsLimits && { keepsLimits: true }),
    run: async (request, hooks) => {
      const span = spanOf(request).start('agent', { runtime: runner.name });
      let turn = NO_SPAN;
      let code: string | undefined = 'error';
      try {
        const end = await runner.run(request, {
          ...hooks,
          onStarted: (pid) => {
            turn = span.start('turn');
            return hooks.onStarted(pid);
          },
          nextTurn: async () => {
            turn.end();
            const next = await hooks.nextTurn();
            if (next !== null) turn = span.start('turn');
            return next;
          },
        });
        code = end.ok ? undefined : (end.cutOff?.kind ?? `${end.fault}_failed`);
        return end;
      } finally {
        turn.end(code);
        span.end(code);
      }
    },
  };
}
