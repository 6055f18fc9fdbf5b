import assert from 'node:assert/strict';
import test from 'node:test';
import { shellWords } from '../../src/cli/shell-words.ts';

const ROWS: readonly (readonly [string, string])[] = [
  [
    'Next: SendMessage {"recipient":"all","type":"shutdown_request","content":"<why>"}, then TeamDelete {"team_name":"tool-run-a"}.',
    'Next: `tool team shutdown`, then `tool team delete tool-run-a`.',
  ],
  [
    'a is leased to b; or ask b to give it back, by FileLease with "release": true',
    'a is leased to b; or ask b to give it back, by `tool team lease <path> --release`',
  ],
  ['Send tester a change_request', 'Send it with `tool team send tester change_request`'],
  ['TeamCreate fails: no space', 'TeamCreate fails: no space'],
];

for (const [said, typed] of ROWS) test(`at a shell: ${said}`, () => assert.equal(shellWords(said), typed));
