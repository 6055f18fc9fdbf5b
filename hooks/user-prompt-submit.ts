// When the user sends a prompt: the commands of the team, and the user's word on a SPEC.

import { mayConcernTeam } from '../src/domain/team/prompt.ts';
import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'UserPromptSubmit',
  load: () => import('../src/host/answers/user-prompt-submit.ts'),
  concerns: ({ prompt }) => mayConcernTeam(prompt),
});
