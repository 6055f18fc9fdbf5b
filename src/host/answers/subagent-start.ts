// SubagentStart, with all that its answer stands on.

import { onAgentStart } from '../../engine/team/guarding.ts';
import { responding } from '../respond.ts';

export const respond = responding(onAgentStart);
