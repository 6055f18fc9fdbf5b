// SubagentStart: binds an agent's run to its member.

import { runHook } from '../src/claude-code/hooks/run-hook.ts';

runHook({
  event: 'SubagentStart',
  load: () => import('../src/compose/hooks/subagent-start.ts'),
});
