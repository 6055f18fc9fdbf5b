// SubagentStart: binds an agent's run to its member.

import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'SubagentStart',
  load: () => import('../src/host/answers/subagent-start.ts'),
});
