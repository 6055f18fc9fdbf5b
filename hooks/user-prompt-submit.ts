// When a prompt is sent: the user's commands of the team and word on a SPEC, and the host's that an agent's run is over.

import { mayConcernTeam } from '../src/domain/team/prompt.ts';
import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'UserPromptSubmit',
  load: () => import('../src/host/answers/user-prompt-submit.ts'),
  concerns: ({ prompt }) => mayConcernTeam(prompt),
});
