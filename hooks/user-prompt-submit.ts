// When the user sends a prompt: the commands of the team, and the user's word on a SPEC.

import { onPrompt } from '../src/engine/team/prompting.ts';
import { runHook } from '../src/host/run-hook.ts';

runHook({ event: 'UserPromptSubmit', answer: onPrompt, withoutTeam: true });
