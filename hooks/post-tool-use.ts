// After a tool ran: mail is delivered.

import { runHook } from '../src/claude-code/hooks/run-hook.ts';

runHook({
  event: 'PostToolUse',
  load: () => import('../src/compose/hooks/post-tool-use.ts'),
});
