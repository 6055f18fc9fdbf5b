// TaskCompleted where no team stands, with all that its answer stands on.

import { checkAlone } from '../../engine/team/gate-alone.ts';
import { respondingAlone } from '../respond.ts';

export const respond = respondingAlone(checkAlone);
