// PreToolUse, with all that its answer stands on.

import { beforeTool } from '../../engine/team/guarding.ts';
import { responding } from '../respond.ts';

export const respond = responding(beforeTool);
