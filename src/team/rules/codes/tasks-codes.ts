// Codes of the task list.

import { codes } from '../../../base/rules/codes.ts';

export const TASK_CODES = codes({
  task_not_found: {
    kind: 'refused',
    message: '{field}: there is no task {task}.',
    help: 'Use an id of TaskList {}.',
    values: { field: 'text', task: 'text', known: 'list' },
  },
  task_claimed: {
    kind: 'refused',
    message: 'Task {task} is claimed by {holder}.',
    help: 'Take another task, or ask {holder} with SendMessage.',
    values: { task: 'text' },
    may: { holder: 'text', completed: 'flag' },
  },
  task_not_claimed: {
    kind: 'refused',
    message: 'Task {task} is not claimed by {member}.',
    help: 'Call TaskUpdate {"taskId":"{task}","status":"in_progress"} first.',
    values: { task: 'text', member: 'text' },
  },
  task_blocked: {
    kind: 'refused',
    message: 'Task {task} waits for {before} to be completed.',
    help: 'End your turn. You continue as soon as they are completed.',
    values: { task: 'text', before: 'list' },
  },
  task_meant_for_other: {
    kind: 'refused',
    message: 'Task {task} is meant for {owner}.',
    help: '{owner} does it, or the lead gives it away: TaskUpdate {"taskId":"{task}","status":"pending","owner":"<teammate>"}.',
    values: { task: 'text', owner: 'text' },
    may: { member: 'text' },
  },
  task_files_of_others: {
    kind: 'refused',
    message: 'The files belong to {owners}, and a task has the files of one owner: {files}.',
    help: 'Create one task for each owner, the later one with blocked_by.',
    values: { files: 'list', owners: 'list' },
    may: { task: 'text', member: 'text' },
  },
  task_owner_not_started: {
    kind: 'refused',
    message: 'owner: {owner} is not in this team yet.',
    help: 'First call Task for {owner}.',
    values: { owner: 'text' },
  },
  owner_not_at_work: {
    kind: 'warning',
    message: '{member} is not at work.',
    help: 'Start it with Task.',
    values: { member: 'text' },
  },
});
