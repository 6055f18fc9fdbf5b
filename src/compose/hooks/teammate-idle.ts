// TeammateIdle, with all that its answer stands on.

import { onTeammateIdle } from '../../claude-code/answers/on-stop.ts';
import { createRespond } from './respond.ts';

export const respond = createRespond((context, event) => onTeammateIdle(context, event, false));
