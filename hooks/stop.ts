// When the main agent ends its turn: not while mail or work waits for it.

import { onLeadStop } from '../src/engine/team/stopping.ts';
import { runHook } from '../src/host/run-hook.ts';

runHook({ event: 'Stop', answer: onLeadStop });
