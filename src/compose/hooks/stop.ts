// Stop, with all that its answer stands on.

import { onLeadStop } from '../../claude-code/answers/on-stop.ts';
import { responding } from './respond.ts';

export const respond = responding(onLeadStop);
