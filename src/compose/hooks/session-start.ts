// SessionStart, with all that its answer stands on.

import { onSessionStart } from '../../claude-code/answers/on-session-start.ts';
import { createRespond } from './respond.ts';

export const respond = createRespond(onSessionStart);
