// When a session begins, is taken up again or was shortened: where the team stands.

import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'SessionStart',
  load: () => import('../src/host/answers/session-start.ts'),
});
