// SubagentStop: ends an agent's run; decides as TeammateIdle where Claude Code does not raise that event.

import { runHook } from '../src/claude-code/hooks/run-hook.ts';

runHook({
  event: 'SubagentStop',
  load: () => import('../src/compose/hooks/subagent-stop.ts'),
});
