// TaskCompleted, with all that its answer stands on.

import { onTaskCompleted } from '../../team/operations/completion-gate.ts';
import { createRespond } from './respond.ts';

export const respond = createRespond(onTaskCompleted);
