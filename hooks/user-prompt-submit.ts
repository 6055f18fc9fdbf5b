// UserPromptSubmit: commands of the team, approvals, and Claude Code's notices of ended agents.

import { runHook } from '../src/claude-code/hooks/run-hook.ts';
import { mayConcernTeam } from '../src/claude-code/rules/prompt.ts';

runHook({
  event: 'UserPromptSubmit',
  load: () => import('../src/compose/hooks/user-prompt-submit.ts'),
  concerns: ({ prompt }) => mayConcernTeam(prompt),
});
