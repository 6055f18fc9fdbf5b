// Codes of the task list.

import { codes } from '../../../base/rules/codes.ts';

export const TASK_CODES = codes({
  task_not_found: {
    kind: 'refused',
    message: '{field}: there is no task {task}.',
    help: 'TaskList {} shows the tasks, {count} in all.',
    values: { field: 'text', task: 'text', count: 'number' },
  },
  task_claimed: {
    kind: 'refused',
    message: 'Task {task} is claimed by {holder}.',
    help: 'Take another task, or ask {holder} with SendMessage.',
    values: { task: 'text', holder: 'text' },
  },
  task_held_by_worker: {
    kind: 'refused',
    message: 'Task {task} is claimed by {holder}, who is at work: only {holder} completes it.',
    values: { task: 'text', holder: 'text' },
  },
  task_completed_already: {
    kind: 'refused',
    message: 'Task {task} has been completed[ by {holder}].',
    values: { task: 'text' },
    may: { holder: 'text' },
  },
  task_not_claimed: {
    kind: 'refused',
    message: 'Task {task} is not claimed by {member}.',
    help: 'Call TaskUpdate {"taskId":"{task}","status":"in_progress"} first.',
    values: { task: 'text', member: 'text' },
  },
  task_blocked: {
    kind: 'refused',
    message: 'Task {task} is blocked by {before}.',
    help: 'Take another task, or end your turn: you continue as soon as that is completed.',
    values: { task: 'text', before: 'list' },
  },
  task_waits: {
    kind: 'refused',
    message: 'Task {task} waits for {before} to be completed.',
    help: 'End your turn: you continue as soon as that is completed.',
    values: { task: 'text', before: 'list' },
  },
  task_holds_up_none: {
    kind: 'refused',
    message: 'holds_up: a task that waits for others holds up none.',
  },
  task_meant_for_other: {
    kind: 'refused',
    message: 'Task {task} is meant for {owner}[, not for {member}].',
    help: '{owner} does it, or the lead gives it away: TaskUpdate {"taskId":"{task}","status":"pending","owner":"<teammate>"}.',
    values: { task: 'text', owner: 'text' },
    may: { member: 'text' },
  },
  task_not_begun: {
    kind: 'refused',
    message: 'Task {task} is meant for {owner}, who has not begun it.',
    help: '{next}[ Or give it to another teammate: TaskUpdate {"taskId":"{task}","status":"pending","owner":"{another}"}.]',
    values: { task: 'text', owner: 'text', next: 'text' },
    may: { another: 'text' },
  },
  task_does_not_fit: {
    kind: 'refused',
    message: 'Task {task} touches files of others ({files}): it does not fit {member}.',
    help: 'Take another task.',
    values: { task: 'text', files: 'list', member: 'text' },
  },
  task_file_of_other: {
    kind: 'refused',
    message: "files: {file} is {owner}'s[, who is {where}].",
    help: 'Create a separate task for {owner}.',
    values: { file: 'text', owner: 'text' },
    may: { where: ['not in this team yet'] },
  },
  task_files_of_others: {
    kind: 'refused',
    message: 'files: {each}: expected files of one owner.',
    help: 'Create one task for each of {owners}, the later one with blocked_by. Or name one of them as owner with its own files only; it asks the others with change_request.',
    values: { files: 'list', owners: 'list', each: 'text' },
  },
  task_owner_not_started: {
    kind: 'refused',
    message: 'owner: {owner} is not in this team yet.',
    help: 'First start {start}.',
    values: { owner: 'text', start: 'text' },
  },
  owner_not_at_work: {
    kind: 'warning',
    message: '{member} is not at work.',
    help: 'Start {start}.',
    values: { member: 'text', start: 'text' },
  },
});
