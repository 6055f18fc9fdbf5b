// TaskCompleted: the gate for tasks of Claude Code's own list.

import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'TaskCompleted',
  load: () => import('../src/host/answers/task-completed.ts'),
});
