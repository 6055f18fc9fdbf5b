// Stop, with all that its answer stands on.

import { onStop } from '../../claude-code/answers/on-stop.ts';
import { createRespond } from './respond.ts';

export const respond = createRespond(onStop);
