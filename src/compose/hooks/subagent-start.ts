// SubagentStart, with all that its answer stands on.

import { onAgentStart } from '../../claude-code/answers/on-pre-tool-use.ts';
import { responding } from './respond.ts';

export const respond = responding(onAgentStart);
