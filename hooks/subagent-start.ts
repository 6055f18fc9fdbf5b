// When an agent starts: its run is bound to its member.

import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'SubagentStart',
  load: () => import('../src/host/answers/subagent-start.ts'),
});
