// `tool init` has Bash calls pass our shell, where the write guard works, and `tool uninstall` gives the user's own setting back.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { PACKED_PROGRAM } from '../../src/guard/guard-program.ts';
import { INSTALL_CODES } from '../../src/install/rules/install-codes.ts';
import { joined, wordsLike } from '../support/codes.ts';
import { treeOf, writeTree } from '../support/installed.ts';
import { machine } from '../support/machine.ts';

const LOCAL = '.claude/settings.local.json';
const options = { skip: process.platform === 'linux' ? false : 'the guard is a program for Linux' };

const guardIn = (home: string) => join(home, '.local', 'state', 'toolcrew', 'guard');
const valueIn = (root: string) => JSON.parse(readFileSync(join(root, LOCAL), 'utf8')).env.CLAUDE_CODE_SHELL;
const NOTE = joined('Note: ', wordsLike(INSTALL_CODES.guard_off_here));
const noteOf = (stdout: string) => stdout.split('\n').find((line) => NOTE.test(line));

test('a dry run says it and writes nothing; init does it once; uninstall leaves the guard home', options, (t) => {
  const { root, home, tool } = machine(t, '2.1.177');
  const [project, before] = [treeOf(root), treeOf(home)];
  const line =
    /^In \.claude\/settings\.local\.json: CLAUDE_CODE_SHELL has Bash calls of teammates run under the write guard\.$/m;
  assert.match(tool(['init', '--dry-run']).stdout, line);
  assert.deepEqual([treeOf(root), treeOf(home)], [project, before]);
  const { stdout } = tool(['init']);
  assert.match(stdout, line);
  assert.equal(noteOf(stdout), undefined);
  assert.equal(valueIn(root), join(guardIn(home), 'bash'));
  assert.ok(!existsSync(join(root, '.tool', 'guard')));
  const installed = [treeOf(root), treeOf(home)];
  assert.match(tool(['init']).stdout, /nothing was changed/);
  assert.deepEqual([treeOf(root), treeOf(home)], installed);
  assert.equal(tool(['uninstall']).exitCode, 0);
  assert.deepEqual([treeOf(root), treeOf(home)], [project, installed[1]]);
});

test('the shell that the user has set runs the calls, and comes back to the byte', options, (t) => {
  const { root, home, tool } = machine(t, '2.1.177');
  const own = join(home, 'bin', 'my-zsh');
  writeFileSync(own, '#!/bin/sh\n', { mode: 0o755 });
  writeTree(root, { [LOCAL]: `{\n\t"env": {"CLAUDE_CODE_SHELL":  "${own}", "A": "1"}\n}` });
  const before = treeOf(root);
  // A second init still knows the shell of the user.
  for (const again of [false, true]) {
    assert.match(tool(['init']).stdout, again ? /nothing was changed/ : /^Installed/);
    assert.equal(valueIn(root), join(guardIn(home), 'zsh'));
    assert.ok(readFileSync(join(guardIn(home), 'zsh'), 'utf8').includes(`SHELL='${own}'\n`));
    assert.ok(!existsSync(join(guardIn(home), 'bash')));
  }
  tool(['uninstall']);
  assert.deepEqual(treeOf(root), before);
});

test('without a guard that works nothing is set, an older entry goes, and one note says why', options, (t) => {
  const { root, home, cli, tool } = machine(t, '2.1.177');
  tool(['init']);
  assert.ok(existsSync(join(root, LOCAL)));
  rmSync(join(dirname(cli), 'native', PACKED_PROGRAM));
  const dry = tool(['init', '--dry-run']).stdout;
  const { exitCode, stdout } = tool(['init']);
  assert.equal(exitCode, 0);
  for (const said of [dry, stdout]) {
    assert.match(noteOf(said) ?? '', wordsLike(INSTALL_CODES.guard_off_here, { why: /.*write-guard-.*/ }));
    assert.doesNotMatch(said, /CLAUDE_CODE_SHELL has/);
  }
  assert.ok(!existsSync(join(root, LOCAL)));
  assert.equal(noteOf(tool(['init']).stdout), noteOf(stdout));
  // A home that cannot be written.
  const closed = machine(t, '2.1.177');
  writeFileSync(join(closed.home, '.local'), '');
  const open = closed.tool(['init']);
  assert.deepEqual([open.exitCode, open.stderr], [0, '']);
  assert.match(noteOf(open.stdout) ?? '', /ENOTDIR/);
  assert.ok(!existsSync(join(closed.root, LOCAL)) && existsSync(guardIn(home)));
});

test('settings that are no JSON are refused before anything is written', (t) => {
  const { root, home, tool } = machine(t, '2.1.177', { [LOCAL]: '{ "env": ' });
  const before = [treeOf(root), treeOf(home)];
  const { exitCode, stderr } = tool(['init']);
  assert.equal(exitCode, 2);
  assert.match(stderr, /^tool: \.claude\/settings\.local\.json: expected valid JSON, got /);
  assert.deepEqual([treeOf(root), treeOf(home)], before);
});

test('an entry whose record is lost is ours again', options, (t) => {
  const { root, tool } = machine(t, '2.1.177');
  const before = treeOf(root);
  tool(['init']);
  rmSync(join(root, '.tool', 'state'), { recursive: true });
  tool(['init']);
  tool(['uninstall']);
  assert.equal(readFileSync(join(root, LOCAL), 'utf8'), '{}\n');
  rmSync(join(root, LOCAL));
  rmSync(join(root, '.claude'), { recursive: true });
  assert.deepEqual(treeOf(root), before);
});

test('settings of one user that git would take up are named', options, (t) => {
  const { root, tool } = machine(t, '2.1.177');
  rmSync(join(root, '.git'), { recursive: true });
  const note = joined('Note: ', wordsLike(INSTALL_CODES.personal_settings_not_ignored, { path: LOCAL }), /$/);
  assert.doesNotMatch(tool(['init']).stdout, note);
  execaSync`git init -q ${root}`;
  assert.match(tool(['init']).stdout, note);
  writeFileSync(join(root, '.gitignore'), '.claude/settings.local.json\n');
  assert.doesNotMatch(tool(['init']).stdout, note);
});
