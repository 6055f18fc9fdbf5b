// TaskCompleted, with all that its answer stands on.

import { onTaskCompleted } from '../../claude-code/answers/on-task-completed.ts';
import { createRespond } from './respond.ts';

export const respond = createRespond(onTaskCompleted);
