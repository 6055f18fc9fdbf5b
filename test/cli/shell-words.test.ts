import assert from 'node:assert/strict';
import test from 'node:test';
import { shellWords } from '../../src/cli/shell-words.ts';
import { OPERATIONS_CODES } from '../../src/team/rules/codes/operations-codes.ts';
import { wordsOf } from '../support/codes.ts';

const NO_TEAM = wordsOf(OPERATIONS_CODES.team_create_failed, { said: 'no space' });

const ROWS: readonly (readonly [string, string])[] = [
  [
    'Next: SendMessage {"recipient":"all","type":"shutdown_request","content":"<why>"}, then TeamDelete {"team_name":"tool-run-a"}.',
    'Next: `tool team shutdown`, then `tool team delete tool-run-a`.',
  ],
  [
    'Ask b to give it back with FileLease {"path":"a","release":true}',
    'Ask b to give it back with `tool team lease a --release`',
  ],
  ['Send tester a change_request', 'Send it with `tool team send tester change_request`'],
  [NO_TEAM, NO_TEAM],
];

for (const [said, typed] of ROWS) test(`at a shell: ${said}`, () => assert.equal(shellWords(said), typed));
