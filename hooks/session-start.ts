// SessionStart, also after a resume or a compaction: tells the state of the team.

import { runHook } from '../src/claude-code/hooks/run-hook.ts';

runHook({
  event: 'SessionStart',
  load: () => import('../src/compose/hooks/session-start.ts'),
});
