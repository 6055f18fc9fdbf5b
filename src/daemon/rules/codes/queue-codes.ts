// Codes of attempts that a worker on another machine made.

import { codes } from '../../../base/rules/codes.ts';

export const QUEUE_CODES = codes({
  worker_lost: {
    kind: 'refused',
    message: 'The worker {worker} fell silent while the agent worked.',
    values: { worker: 'text' },
  },
  worker_returned_work: {
    kind: 'refused',
    message: 'The worker {worker} ended and handed the work back.',
    values: { worker: 'text' },
  },
});
