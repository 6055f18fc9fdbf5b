// SessionStart, with all that its answer stands on.

import { onSessionStart } from '../../claude-code/answers/on-post-tool-use.ts';
import { createRespond } from './respond.ts';

export const respond = createRespond(onSessionStart);
