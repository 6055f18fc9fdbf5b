// SubagentStop, with all that its answer stands on.

import { onTeammateIdle } from '../../claude-code/answers/on-teammate-idle.ts';
import { createRespond } from './respond.ts';

export const respond = createRespond((context, event) => onTeammateIdle(context, event, true));
