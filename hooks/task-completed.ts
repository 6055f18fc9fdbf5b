// When a task of the host's own list is completed: the gate.

import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'TaskCompleted',
  load: () => import('../src/host/answers/task-completed.ts'),
});
