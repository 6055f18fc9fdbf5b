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
  work_awaited: {
    kind: 'warning',
    message:
      'The work[ {commit}] of issue #{issue} is not on this machine. A worker that kept it may bring it within {seconds} s.',
    help: 'Nothing needs to be done: without such a worker, the issue gets another attempt, which counts for nothing.',
    values: { issue: 'number', seconds: 'number' },
    may: { commit: 'text' },
  },
  work_lost: {
    kind: 'warning',
    message: 'The commit {commit} of issue #{issue} stayed on a machine that is gone, and no worker has kept it.',
    help: 'Another attempt does the work again, and counts for nothing.',
    values: { issue: 'number', commit: 'text' },
  },
});
