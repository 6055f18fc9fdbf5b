// Outputs of a command that failed, for people and for programs.

import assert from 'node:assert/strict';
import test from 'node:test';
import { failure } from '../../src/base/rules/errors.ts';
import { errorLine, failedJson, failedText } from '../../src/cli/failed-command.ts';
import { CLI_CODES } from '../../src/cli/rules/cli-codes.ts';
import { codeIn } from '../support/codes.ts';

const SOCKET = new Error('connect ENOENT');
const AWAY = failure(CLI_CODES.daemon_unreachable, { address: '/s', said: 'connect ENOENT' }, { cause: SOCKET });

test('a refusal is a line with its code, and an object with its values and causes', () => {
  assert.match(failedText(AWAY), /^tool: .*connect ENOENT \(daemon_unreachable\)$/);
  const { error } = JSON.parse(failedJson(AWAY));
  assert.deepEqual(Object.keys(error), ['code', 'message', 'values', 'help', 'causes']);
  assert.equal(error.code, 'daemon_unreachable');
  assert.deepEqual(error.values, { address: '/s', said: 'connect ENOENT' });
  assert.deepEqual(error.causes, [{ code: null, message: 'connect ENOENT' }]);
});

test('the code is at the end of the first of several lines', () => {
  const text = failedText(failure(CLI_CODES.team_ended_badly, { team: 't', why: 'Stuck.', restart: 't' }));
  assert.match(text, /^tool: Stuck\. \(team_ended_badly\)\n/);
  assert.equal(codeIn(text), 'team_ended_badly');
});

test('an error of somebody else keeps its words', () => {
  assert.equal(failedText(SOCKET), 'tool: connect ENOENT (unexpected_error)');
  assert.equal(failedText(new Error('one\ntwo')), 'tool: one (unexpected_error)\ntwo');
  assert.equal(JSON.parse(failedJson(SOCKET)).error.code, 'unexpected_error');
});

test('a command that goes on says an error in one line with its code', () => {
  assert.match(errorLine(AWAY), /connect ENOENT \(daemon_unreachable\)$/);
  assert.equal(errorLine(new Error('one\ntwo')), 'one two (unexpected_error)');
});

test('causes are told one below the other, with the codes of those that have one', () => {
  const outer = failure(CLI_CODES.work_refused, { said: 'no' }, { cause: AWAY });
  const { error } = JSON.parse(failedJson(outer));
  assert.deepEqual(
    error.causes.map(({ code }: { code: string | null }) => code),
    ['daemon_unreachable', null],
  );
});
