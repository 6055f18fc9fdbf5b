// Codes of SPEC documents and the phases that make them.

import { codes } from '../../../base/rules/codes.ts';

export const SPEC_CODES = codes({
  spec_change_in_progress: {
    kind: 'refused',
    message: '{spec}: team {team} is at work on changes that the user asked for.',
    help: 'Approve the result of that.[ If nobody is at work any more: {again}, `tool team delete {team}` ends them.]',
    values: { spec: 'text', team: 'text' },
    may: { again: 'text' },
  },
  planner_result_missing: {
    kind: 'refused',
    message: 'A SPEC needs the results of analyst and architect: there is no result of {missing}.',
    values: { missing: 'list' },
  },
  approved_elsewhere: {
    kind: 'warning',
    message: '{spec} was approved elsewhere before this answer came.[ {rest}]',
    values: { spec: 'text' },
    may: { rest: 'text' },
  },
  spec_not_writable: {
    kind: 'refused',
    message: 'Cannot write {path}: {said}',
    values: { path: 'text', said: 'text' },
  },
  spec_document_missing: {
    kind: 'refused',
    message: 'There is no {path}.',
    values: { path: 'text' },
  },
  spec_completed: {
    kind: 'refused',
    message: '{spec} is completed already',
    values: { spec: 'text' },
  },
  spec_place_unusable: {
    kind: 'refused',
    message: '{path}: expected a directory for SPECs, got something else.',
    help: 'Move it away.',
    values: { path: 'text' },
  },
  spec_numbers_used_up: {
    kind: 'refused',
    message: 'Expected a free number below 1000 for SPEC-{name}, but all of them are taken.',
    help: 'Choose another name for the feature.',
    values: { name: 'text' },
  },
  spec_not_approved: {
    kind: 'refused',
    message: '{spec} is not approved ({why}).',
    help: 'The user approves it: by sending exactly `approve {spec}`, or with `tool spec approve {spec}`.[ Then call {call} again.]',
    values: { spec: 'text', why: 'text' },
    may: { call: 'text' },
  },
  sync_base_unknown: {
    kind: 'refused',
    message: 'No commit names {spec}, so it is not known where the work on it began.',
    help: 'Commit what was built with {command}. If it is committed already, name the commit before it, in a terminal: tool sync {spec} --base <commit>.',
    values: { spec: 'text', command: 'text' },
  },
  sync_nothing_committed: {
    kind: 'refused',
    message: 'Nothing was committed since a team began to build {spec}, at {commit}.',
    help: 'Commit what was built with {command}, then sync.',
    values: { spec: 'text', commit: 'text', command: 'text' },
  },
  sync_no_commit: {
    kind: 'refused',
    message: 'There is no commit yet.',
    help: 'Commit what was built, then sync.',
  },
  sync_base_invalid: {
    kind: 'refused',
    message: '--base: expected a commit, got {got}.',
    values: { got: 'text' },
  },
  sync_tasks_open: {
    kind: 'refused',
    message: '{count} tasks of team {team} are open: {tasks}.',
    help: 'Finish them, then sync.',
    values: { count: 'number', team: 'text', tasks: 'list' },
  },
  spec_file_missing: {
    kind: 'problem',
    message: '[{place}: ]expected beside spec.md, got nothing',
    values: { file: 'text' },
    may: { place: 'text' },
  },
  spec_text_missing: {
    kind: 'problem',
    message: '[{place}: ]there is none',
    values: { file: 'text' },
    may: { place: 'text' },
  },
  spec_reference_unknown: {
    kind: 'problem',
    message: '[{place}: ]{who}: there is no {id}; there is {known}',
    values: { who: 'text', id: 'text', known: 'text' },
    may: { place: 'text' },
  },
  spec_dependency_cycle: {
    kind: 'problem',
    message: '[{place}: ]{task}: depends on: waits for itself: {cycle}',
    values: { task: 'text', cycle: 'text' },
    may: { place: 'text' },
  },
  spec_not_english: {
    kind: 'warning',
    message: '[{place}: ]{id}: the EARS form was not checked: the requirement does not seem to be in English',
    values: { id: 'text' },
    may: { place: 'text' },
  },
  spec_file_in_submodule: {
    kind: 'warning',
    message:
      '[{place}: ]{id}: files: {file} lies in the submodule {submodule}: a team does not commit there, and no commit of the project takes it in',
    values: { id: 'text', file: 'text', submodule: 'text' },
    may: { place: 'text' },
  },
  spec_conflict_marker: {
    kind: 'problem',
    message: '[{place}: ]expected a merge that is settled, got the conflict marker {marker}',
    values: { marker: 'text' },
    may: { place: 'text' },
  },
  spec_code_block_open: {
    kind: 'problem',
    message:
      '[{place}: ]expected the block of code that begins here to be closed, got the end of the document: what stands below is read as code',
    may: { place: 'text' },
  },
  spec_item_repeated: {
    kind: 'problem',
    message: '[{place}: ][{id}: ][{field}: ]expected once, got it again[; it stands in line {first}]',
    may: { place: 'text', id: 'text', field: 'text', first: 'number' },
  },
  spec_field_invalid: {
    kind: 'problem',
    message: '[{place}: ][{id}: ]{field}: expected {expected}, got {got}[; did you mean {meant}?]',
    values: { field: 'text', expected: 'text', got: 'text' },
    may: { place: 'text', id: 'text', meant: 'text' },
  },
  spec_form_invalid: {
    kind: 'problem',
    message: '[{place}: ][{id}: ]expected {expected}, got {got}[; did you mean {meant}?]',
    values: { expected: 'text', got: 'text' },
    may: { place: 'text', id: 'text', meant: 'text' },
  },
  plan_file_name_taken: {
    kind: 'problem',
    message:
      '[{place}: ]{id}: files: {file}: expected another name or the same case, got {other} in {task}: on many computers both are one file',
    values: { id: 'text', file: 'text', other: 'text', task: 'text' },
    may: { place: 'text' },
  },
  plan_migration_number_taken: {
    kind: 'problem',
    message: '[{place}: ]{id}: files: {file}: expected a number of its own, got {number} again, of {other} in {task}',
    values: { id: 'text', file: 'text', number: 'text', other: 'text', task: 'text' },
    may: { place: 'text' },
  },
});
