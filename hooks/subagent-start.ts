// When an agent starts: its run is bound to its member.

import { onAgentStart } from '../src/engine/team/guarding.ts';
import { runHook } from '../src/host/run-hook.ts';

runHook({ event: 'SubagentStart', answer: onAgentStart });
