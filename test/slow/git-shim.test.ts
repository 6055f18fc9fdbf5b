// Our git on macOS refuses what the table of calls refuses, and passes all other calls on as they are.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { type GitRow, gitRows, OBVIOUS_ROWS, refusalOf } from '../../src/guard/rules/git-calls.ts';
import { GUARD_LINE_CODES } from '../../src/guard/rules/guard-line-codes.ts';
import { BARE_POLICY } from '../../src/guard/rules/policy.ts';
import { seatbeltProfile } from '../../src/guard/rules/seatbelt.ts';
import { GIT_DIRECTORY, GIT_SHIM } from '../../src/guard/rules/seatbelt-scripts.ts';
import { END, joined, lineLike, ownLine, START } from '../support/codes.ts';
import { ALLOWED, REFUSED } from '../support/git-calls.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const OPTIONS = [[], ['-C', 'a b'], ['-c', 'x=y', '--no-pager'], ['--git-dir', '-x', '-p'], ['--git-dir=x']] as const;

const ODD: readonly (readonly string[])[] = [
  [],
  [''],
  ['', 'stash'],
  ['-C'],
  ['-c', 'stash'],
  ['--config-env', 'a', '--namespace', 'b', '--work-tree', 'c', 'stash'],
  ['commit', '-m', 'two\nlines -a', '-a'],
  ['commit', '-m', 'it\'s -a \\ "q" $HOME `id` *'],
  ['commit', '-m', 'ü\u{1f600}', '--', 'src/ui/a b.ts'],
  ['commit', '-m', '\n'],
  ['add', '*'],
  ['add', '--', '.'],
  ['checkout', '--', 'src/ui/x\ty'],
  ['commit', '-m', 'x'.repeat(40_000)],
  ['stash', 'x'.repeat(40_000)],
  ['add', ...Array.from({ length: 300 }, (_, at) => `src/ui/${at}.ts`)],
];

/** Puts our git before another one, which prints its arguments. */
function shim(t: Cleanup) {
  const place = tempDir(t);
  const [ours, others, table] = [join(place, GIT_DIRECTORY), join(place, 'real git'), join(place, 'table')];
  for (const directory of [ours, others]) mkdirSync(directory);
  writeFileSync(join(ours, 'git'), GIT_SHIM, { mode: 0o755 });
  writeFileSync(join(others, 'git'), '#!/bin/sh\nprintf "%s\\0" "$@"\nexit 7\n', { mode: 0o755 });
  const PATH = `${ours}:${others}:${process.env.PATH ?? ''}`;
  return (rows: readonly GitRow[], args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const policy = { ...BARE_POLICY, root: '/project', member: null, ownership: [], git: rows };
    writeFileSync(table, seatbeltProfile(policy, { leases: [], ignored: [] }));
    const all = { PATH, TOOL_GUARD_TABLE: table, ...env };
    return execaSync({ env: all, reject: false, stripFinalNewline: false })`git ${args}`;
  };
}

test('each call gets the answer of the table: in a shared checkout, in one of its own, and for a reader', (t) => {
  const git = shim(t);
  const calls = [...REFUSED.map(([call]) => call), ...ALLOWED].map((call, at) => [
    ...(OPTIONS[at % OPTIONS.length] ?? []),
    ...call.split(' '),
  ]);
  calls.push(...ODD.map((args) => [...args]), ['merge', 'tool/shop'], ['merge', '--abort'], ['apply', '--check', 'x']);
  const tables = [
    gitRows('shared', 'src/ui'),
    gitRows('own', 'src/ui', ['merge tool/shop', 'merge --abort']),
    OBVIOUS_ROWS,
  ];
  const refused = tables.map((rows) => {
    let count = 0;
    for (const args of calls) {
      const expected = refusalOf(args, rows);
      const { exitCode, stdout, stderr } = git(rows, args);
      const label = args.join(' ').slice(0, 100);
      if (expected === null) {
        assert.deepEqual([exitCode, stderr, stdout], [7, '', `${args.join('\0')}\0`], label);
        continue;
      }
      count += 1;
      assert.deepEqual([exitCode, stdout], [1, ''], label);
      const line = lineLike(GUARD_LINE_CODES.guard_git_refused, { call: /git [a-z-]+/, advice: expected });
      assert.match(stderr, joined(START, 'toolcrew: ', line, '\n', END), label);
    }
    return count;
  });
  assert.ok(
    refused.every((count) => count >= 3 && count < calls.length - 20),
    refused.join(' '),
  );
});

test('without a table every call runs; without another git it says so', (t) => {
  const git = shim(t);
  const rows = gitRows('shared', 'src/ui');
  assert.equal(git(rows, ['stash']).exitCode, 1);
  assert.equal(git(rows, ['stash'], { TOOL_GUARD_TABLE: '' }).exitCode, 7);
  const noGit = ownLine(GUARD_LINE_CODES.guard_command_not_started, { command: 'git', said: 'not found' });
  const place = tempDir(t);
  mkdirSync(join(place, GIT_DIRECTORY));
  writeFileSync(join(place, GIT_DIRECTORY, 'git'), GIT_SHIM, { mode: 0o755 });
  const alone = execaSync(join(place, GIT_DIRECTORY, 'git'), ['status'], {
    ...{ env: { PATH: place }, extendEnv: false, reject: false },
  });
  assert.deepEqual([alone.exitCode, alone.stderr], [127, noGit]);
});
