// SessionStart, with all that its answer stands on.

import { onSessionStart } from '../../engine/team/delivering.ts';
import { responding } from '../respond.ts';

export const respond = responding(onSessionStart);
