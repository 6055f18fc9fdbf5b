// UserPromptSubmit, with all that its answer stands on.

import { onUserPrompt } from '../../claude-code/answers/on-user-prompt.ts';
import { createRespond } from './respond.ts';

export const respond = createRespond(onUserPrompt);
