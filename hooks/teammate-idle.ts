// When a teammate becomes idle: accepted, or given more to do.

import { onIdle } from '../src/engine/team/stopping.ts';
import { runHook } from '../src/host/run-hook.ts';

runHook({ event: 'TeammateIdle', answer: (context, event) => onIdle(context, event, false) });
