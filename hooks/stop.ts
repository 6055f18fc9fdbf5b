// Stop: keeps the main agent from ending its turn while mail or work waits for it.

import { runHook } from '../src/claude-code/hooks/run-hook.ts';

runHook({
  event: 'Stop',
  load: () => import('../src/compose/hooks/stop.ts'),
});
