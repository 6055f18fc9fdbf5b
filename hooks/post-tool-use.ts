// After a tool ran: mail is delivered, refused writes and agents that could not be started are reported.

import { runHook } from '../src/claude-code/hooks/run-hook.ts';

runHook({
  event: 'PostToolUse',
  load: () => import('../src/compose/hooks/post-tool-use.ts'),
});
