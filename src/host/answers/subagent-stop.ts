// SubagentStop, with all that its answer stands on.

import { onIdle } from '../../engine/team/stopping.ts';
import { responding } from '../respond.ts';

export const respond = responding((context, event) => onIdle(context, event, true));
