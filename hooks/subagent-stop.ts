// When an agent stops, and its run is over with that: the decision of TeammateIdle, where the host does not raise it.

import { onIdle } from '../src/engine/team/stopping.ts';
import { runHook } from '../src/host/run-hook.ts';

runHook({ event: 'SubagentStop', answer: (context, event) => onIdle(context, event, true) });
