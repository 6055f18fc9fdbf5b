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
  sync_base_unknown: {
    kind: 'refused',
    message: 'The beginning of the work on {spec} is not known: {why}.',
    help: 'Commit what was built, or run tool sync {spec} --base <commit>.',
    values: { spec: 'text', why: 'text' },
  },
  sync_tasks_open: {
    kind: 'refused',
    message: '{count} tasks of team {team} are open: {tasks}.',
    help: 'Finish them, then sync.',
    values: { count: 'number', team: 'text', tasks: 'list' },
  },
  spec_file_missing: {
    kind: 'problem',
    message: '{file} is missing.',
    values: { file: 'text' },
  },
  spec_reference_unknown: {
    kind: 'problem',
    message: '{place}: {who}: there is no {id}.',
    help: 'Use one of {known}.',
    values: { place: 'text', who: 'text', id: 'text', known: 'list' },
  },
  spec_dependency_cycle: {
    kind: 'problem',
    message: '{place}: {task} waits for itself: {cycle}.',
    values: { place: 'text', task: 'text', cycle: 'list' },
  },
  spec_not_english: {
    kind: 'warning',
    message: '{place}: {id}: the EARS form was not checked, because the requirement seems not to be in English.',
    values: { place: 'text', id: 'text' },
  },
  spec_item_repeated: {
    kind: 'problem',
    message: '{place}: {id}: expected once, got it again.',
    values: { place: 'text', id: 'text' },
    may: { firstLine: 'number' },
  },
  spec_field_invalid: {
    kind: 'problem',
    message: '{place}: {id}: {field}: expected {expected}, got {got}.',
    values: { place: 'text', field: 'text', expected: 'text', got: 'text' },
    may: { id: 'text', near: 'text' },
  },
  spec_form_invalid: {
    kind: 'problem',
    message: '{place}: {id}: expected {expected}, got {got}.',
    values: { place: 'text', expected: 'text', got: 'text' },
    may: { id: 'text' },
  },
});
