// PostToolUse, with all that its answer stands on.

import { afterTool } from '../../engine/team/delivering.ts';
import { responding } from '../respond.ts';

export const respond = responding(afterTool);
