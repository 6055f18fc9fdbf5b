// When an agent stops, and its run is over with that: the decision of TeammateIdle, where the host does not raise it.

import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'SubagentStop',
  load: () => import('../src/host/answers/subagent-stop.ts'),
});
