// After a tool ran: mail is delivered.

import { afterTool } from '../src/engine/team/delivering.ts';
import { runHook } from '../src/host/run-hook.ts';

runHook({ event: 'PostToolUse', answer: afterTool });
