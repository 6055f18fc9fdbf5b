import assert from 'node:assert/strict';
import test from 'node:test';
import { shellWords } from '../../src/cli/shell-words.ts';

const ROWS: readonly (readonly [string, string])[] = [
  [
    'Next: SendMessage {"recipient":"all","type":"shutdown_request","content":"<why>"}, then TeamDelete {"team_name":"tool-run-a"}.',
    'Next: `tool team shutdown`, then `tool team delete tool-run-a`.',
  ],
  [
    'a is leased to b. Or ask b to give it back with FileLease {"path":"a","release":true}',
    'a is leased to b. Or ask b to give it back with `tool team lease a --release`',
  ],
  ['Send tester a change_request', 'Send it with `tool team send tester change_request`'],
  ['TeamCreate fails: no space', 'TeamCreate fails: no space'],
];

for (const [said, typed] of ROWS) test(`at a shell: ${said}`, () => assert.equal(shellWords(said), typed));
