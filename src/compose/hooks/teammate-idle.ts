// TeammateIdle, with all that its answer stands on.

import { onIdle } from '../../claude-code/answers/on-stop.ts';
import { responding } from './respond.ts';

export const respond = responding((context, event) => onIdle(context, event, false));
