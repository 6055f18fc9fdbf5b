// PostToolUse, with all that its answer stands on.

import { afterTool } from '../../claude-code/answers/on-post-tool-use.ts';
import { responding } from './respond.ts';

export const respond = responding(afterTool);
