// Before a tool runs: ownership of files, spawns of teammates, and who calls the team's operations.

import { beforeTool, kindOfTool } from '../src/engine/team/guarding.ts';
import { runHook } from '../src/host/run-hook.ts';

runHook({
  event: 'PreToolUse',
  answer: beforeTool,
  failsClosed: ({ tool }) => kindOfTool(tool) === 'write' || kindOfTool(tool) === 'spawn',
});
