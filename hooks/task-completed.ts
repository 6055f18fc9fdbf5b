// When a task of the host's own list is completed: the gate.

import { onTaskCompleted } from '../src/engine/team/gate.ts';
import { runHook } from '../src/host/run-hook.ts';

runHook({ event: 'TaskCompleted', answer: onTaskCompleted, withoutTeam: true });
