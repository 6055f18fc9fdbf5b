// SessionStart, also after a resume or a compaction: tells the state of the team.

import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'SessionStart',
  load: () => import('../src/host/answers/session-start.ts'),
});
