// UserPromptSubmit, with all that its answer stands on.

import { onPrompt } from '../../engine/team/prompting.ts';
import { responding } from '../respond.ts';

export const respond = responding(onPrompt);
