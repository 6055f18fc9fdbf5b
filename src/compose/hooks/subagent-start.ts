// SubagentStart, with all that its answer stands on.

import { onSubagentStart } from '../../claude-code/answers/on-subagent-start.ts';
import { createRespond } from './respond.ts';

export const respond = createRespond(onSubagentStart);
