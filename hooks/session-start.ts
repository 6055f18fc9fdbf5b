// When a session begins, is taken up again or was shortened: where the team stands.

import { onSessionStart } from '../src/engine/team/delivering.ts';
import { runHook } from '../src/host/run-hook.ts';

runHook({ event: 'SessionStart', answer: onSessionStart });
