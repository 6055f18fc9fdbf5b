// Before a tool runs: ownership of files, spawns of teammates, and who calls the team's operations.

import { runHook } from '../src/claude-code/hooks/run-hook.ts';
import { beginsTeam, kindOfTool } from '../src/claude-code/rules/tool-kind.ts';

runHook({
  event: 'PreToolUse',
  load: () => import('../src/compose/hooks/pre-tool-use.ts'),
  concerns: ({ tool }, hasTeam) =>
    kindOfTool(tool) !== 'other' && (beginsTeam(tool) || kindOfTool(tool) === 'later' || hasTeam()),
  // Up to 2.1.100 a silent hook that ends last takes the signature of the other away.
  saysWhenDuplicate: ({ tool }) => kindOfTool(tool) === 'ours',
  failsClosed: ({ tool }) => kindOfTool(tool) === 'write' || kindOfTool(tool) === 'spawn',
});
