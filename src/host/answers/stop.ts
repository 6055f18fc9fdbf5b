// Stop, with all that its answer stands on.

import { onLeadStop } from '../../engine/team/stopping.ts';
import { responding } from '../respond.ts';

export const respond = responding(onLeadStop);
