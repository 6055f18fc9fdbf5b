// A repository's settings as teammates get them.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { plainConfigs } from '../../src/git/plain-config.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const SECRET = 'ghp_0123456789';

/** The settings of a file, each as `key=value`. */
function settingsIn(path: string): readonly string[] {
  const listed = execaSync({ cwd: '/' })`git config --file ${path} --list --null`.stdout;
  return listed
    .split('\0')
    .filter((row) => row !== '')
    .map((row) => row.replace('\n', '='));
}

/** A Git directory with these settings in it; gives what teammates find in each file. */
async function plainOf(t: Cleanup, files: Readonly<Record<string, readonly (readonly [string, string])[]>>) {
  const common = tempDir(t);
  for (const [name, settings] of Object.entries(files)) {
    const path = join(common, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(join(dirname(path), 'HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(path, '');
    for (const [key, value] of settings) execaSync({ cwd: '/' })`git config --file ${path} --add ${key} ${value}`;
  }
  const told = join(tempDir(t), 'told');
  const plain = new Map<string, readonly string[]>();
  for (const { path, text } of await plainConfigs(common)) {
    assert.ok(!text.includes(SECRET), text);
    writeFileSync(told, text);
    plain.set(path.slice(common.length + 1), settingsIn(told));
  }
  return plain;
}

const GONE: readonly (readonly [string, string])[] = [
  ['credential.helper', `!echo password=${SECRET}`],
  ['credential.https://github.com.username', SECRET],
  ['http.extraHeader', `Authorization: Bearer ${SECRET}`],
  ['http.https://github.com/.extraheader', `AUTHORIZATION: basic ${SECRET}`],
  ['http.proxy', `http://me:${SECRET}@proxy:3128`],
  ['http.https://github.com.cookieFile', `/home/me/${SECRET}`],
  [`url.https://me:${SECRET}@github.com/.insteadOf`, 'https://github.com/'],
  [`url.https://${SECRET}@github.com/.pushInsteadOf`, 'git@github.com:'],
  [`http.https://me:${SECRET}@github.com/.sslVerify`, 'false'],
  ['remote.origin.pushurl', `https://me:${SECRET}@github.com/o/r.git`],
  ['core.sshCommand', `ssh -i /home/me/${SECRET}`],
  ['core.askPass', `/home/me/${SECRET}`],
  ['include.path', `/home/me/${SECRET}`],
  ['includeIf.gitdir:/.path', `/home/me/${SECRET}`],
  ['github.oauth-token', SECRET],
  ['sendemail.smtpPass', SECRET],
  ['vendor.apiKey', SECRET],
];

/** What is there, and what is there for teammates. */
const STAYS: readonly (readonly [string, string, string])[] = [
  ['core.autocrlf', 'input', 'input'],
  ['filter.lfs.clean', 'git-lfs clean -- %f', 'git-lfs clean -- %f'],
  ['branch.fix-the-token.merge', 'refs/heads/fix-the-token', 'refs/heads/fix-the-token'],
  ['user.name', 'Some "Body" \\ else', 'Some "Body" \\ else'],
  ['remote.a.url', `https://me:${SECRET}@github.com/o/r.git`, 'https://github.com/o/r.git'],
  ['remote.b.url', `https://${SECRET}@github.com/o/r.git`, 'https://github.com/o/r.git'],
  ['remote.c.url', `https://me:p@${SECRET}@github.com:8443/o/r.git`, 'https://github.com:8443/o/r.git'],
  ['remote.d.url', 'git@github.com:o/r.git', 'git@github.com:o/r.git'],
  ['remote.e.url', 'ssh://git@github.com:22/o/r.git', 'ssh://git@github.com:22/o/r.git'],
  ['remote.f.url', `ssh://git:${SECRET}@github.com/o/r.git`, 'ssh://git@github.com/o/r.git'],
  ['remote.g.url', `persistent-https::https://me:${SECRET}@github.com/o/r`, 'persistent-https::https://github.com/o/r'],
  ['remote.h.url', '/srv/a@b.git', '/srv/a@b.git'],
  ['branch.main.remote', `https://me:${SECRET}@github.com/o/r.git`, 'https://github.com/o/r.git'],
  ['submodule.x.url', `https://me:${SECRET}@github.com/o/x.git`, 'https://github.com/o/x.git'],
  ['alias.mirror', `!git push 'https://me:${SECRET}@github.com/o/r'`, "!git push 'https://github.com/o/r'"],
];

const key = (name: string) =>
  name.replace(/^[^.]+/, (section) => section.toLowerCase()).replace(/[^.]+$/, (last) => last.toLowerCase());

test('credentials stay behind, in whatever setting they are; what work needs comes along', async (t) => {
  const settings = [...GONE, ...STAYS.map(([name, value]) => [name, value] as const)];
  const plain = (await plainOf(t, { config: settings })).get('config') ?? [];
  const remotes = [...'abcdefgh'].map((name) => `remote.${name}.pushurl=no-push://the-daemon-pushes`);
  assert.deepEqual([...plain].sort(), [...STAYS.map(([name, , value]) => `${key(name)}=${value}`), ...remotes].sort());
});

test('the settings of worktrees and submodules are settings of the repository', async (t) => {
  const remote = ['remote.origin.url', `https://${SECRET}@github.com/o/r.git`] as const;
  const names = [
    'config',
    'config.worktree',
    'worktrees/mine/config.worktree',
    'modules/a/config',
    'modules/vendor/b/config',
    'modules/vendor/b/modules/c/config',
  ];
  const plain = await plainOf(t, Object.fromEntries(names.map((name) => [name, [remote]])));
  assert.deepEqual([...plain.keys()].sort(), [...names].sort());
  for (const settings of plain.values())
    assert.deepEqual(settings, [
      'remote.origin.url=https://github.com/o/r.git',
      'remote.origin.pushurl=no-push://the-daemon-pushes',
    ]);
});
