// TaskCompleted: the gate for tasks of Claude Code's own list.

import { runHook } from '../src/claude-code/hooks/run-hook.ts';

runHook({
  event: 'TaskCompleted',
  load: () => import('../src/compose/hooks/task-completed.ts'),
});
