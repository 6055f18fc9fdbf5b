// PostToolUse, with all that its answer stands on.

import { onPostToolUse } from '../../claude-code/answers/on-post-tool-use.ts';
import { createRespond } from './respond.ts';

export const respond = createRespond(onPostToolUse);
