// TeammateIdle: accepts that a teammate rests, or gives it more to do.

import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'TeammateIdle',
  load: () => import('../src/host/answers/teammate-idle.ts'),
});
