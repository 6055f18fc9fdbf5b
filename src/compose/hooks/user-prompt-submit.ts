// UserPromptSubmit, with all that its answer stands on.

import { onPrompt } from '../../claude-code/answers/on-user-prompt.ts';
import { responding } from './respond.ts';

export const respond = responding(onPrompt);
