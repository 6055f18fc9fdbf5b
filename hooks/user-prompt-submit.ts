// UserPromptSubmit: commands of the team, approvals, and Claude Code's notices of ended agents.

import { mayConcernTeam } from '../src/domain/team/prompt.ts';
import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'UserPromptSubmit',
  load: () => import('../src/host/answers/user-prompt-submit.ts'),
  concerns: ({ prompt }) => mayConcernTeam(prompt),
});
