// SubagentStop: ends an agent's run; decides as TeammateIdle where Claude Code does not raise that event.

import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'SubagentStop',
  load: () => import('../src/host/answers/subagent-stop.ts'),
});
