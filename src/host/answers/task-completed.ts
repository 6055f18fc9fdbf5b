// TaskCompleted, with all that its answer stands on.

import { onTaskCompleted } from '../../engine/team/gate.ts';
import { responding } from '../respond.ts';

export const respond = responding(onTaskCompleted);
