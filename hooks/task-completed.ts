// When a task of the host's own list is completed: the gate.

import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'TaskCompleted',
  load: (hasTeam) =>
    hasTeam ? import('../src/host/answers/task-completed.ts') : import('../src/host/answers/task-completed-alone.ts'),
  // Without a team as well: the project's own checks.
  concerns: () => true,
});
