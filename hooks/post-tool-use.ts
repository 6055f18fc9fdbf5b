// After a tool ran: mail is delivered.

import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'PostToolUse',
  load: () => import('../src/host/answers/post-tool-use.ts'),
});
