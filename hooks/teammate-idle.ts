// TeammateIdle: accepts that a teammate rests, or gives it more to do.

import { runHook } from '../src/claude-code/hooks/run-hook.ts';

runHook({
  event: 'TeammateIdle',
  load: () => import('../src/compose/hooks/teammate-idle.ts'),
});
