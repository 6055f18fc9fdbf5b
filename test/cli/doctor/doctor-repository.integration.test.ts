import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { checkFollowing, checkSubmodules } from '../../../src/cli/doctor/doctor-repository.ts';
import { ACCOUNTS, bareRepository, commitFiles, DAEMON_TOKEN, gitAs, startForge } from '../../support/forge.ts';
import { trackerAt } from '../../support/pull-request.ts';
import { tempDir } from '../../support/temp.ts';
import { workflowWith } from '../../support/world.ts';

test('doctor names submodules: reached, not reached, or left empty by the file', async (t) => {
  const { bare: repository } = await bareRepository(tempDir(t));
  const { forge } = await startForge(t, undefined, {
    others: { 'maintainer/private': { repository, isPrivate: true } },
  });
  const [stateDir, place] = [tempDir(t), tempDir(t)];
  const workflow = workflowWith({});
  const check = async (submodules = true, isKnown = true) => {
    const rows = await checkSubmodules(
      {
        ...workflow,
        stateDir,
        path: join(place, 'WORKFLOW.md'),
        tracker: { ...workflow.tracker, apiUrl: forge.url, slug: { owner: 'maintainer', repo: 'project' } },
        workspace: { ...workflow.workspace, submodules },
      },
      isKnown ? { gitSecret: async () => `username=x-access-token\npassword=${DAEMON_TOKEN}\n` } : undefined,
      { env: process.env, directory: tempDir(t) },
    );
    return rows.map(({ name, status, says }) => `${name} ${status} ${says.split('\n').length}`);
  };
  assert.deepEqual(await check(), [], 'no repository yet');
  await gitAs(place, 'init', '--quiet');
  await commitFiles(place, { 'a.txt': '1\n' }, 'one');
  assert.deepEqual(await check(), [], 'none in it');
  const named = (url: string, name = 'a') => `[submodule "${name}"]\n\tpath = ${name}\n\turl = ${url}\n`;
  await commitFiles(place, { '.gitmodules': named('../private.git') }, 'two');
  assert.deepEqual(await check(), ['submodules ok 1'], 'before the first start: those beside the workflow file');
  assert.deepEqual(await check(true, false), ['submodules warn 2'], 'without a credential');
  assert.deepEqual(await check(false), ['submodules ok 1']);
  const work = join(stateDir, 'work');
  mkdirSync(work);
  await gitAs(work, 'init', '--quiet');
  writeFileSync(
    join(work, '.gitmodules'),
    [
      named('../private.git'),
      named('git@elsewhere:o/b', 'b'),
      named('../missing.git', 'c'),
      named('../private.git', '../d'),
    ].join(''),
  );
  await commitFiles(work, { 'a.txt': '1\n' }, 'one');
  const copy = join(stateDir, 'repo.git');
  await gitAs(work, 'clone', '--quiet', '--bare', work, copy);
  assert.deepEqual(await check(), ['submodules warn 4']);
});

test('doctor names the permissions that following needs and the token lacks', async (t) => {
  const token = 'token-of-one-that-reads-less';
  const withheld = ['checks', 'statuses'] as const;
  const less = { login: 'less', role: 'write', type: 'User', token, withheld } as const;
  const { forge } = await startForge(t, undefined, { accounts: [...ACCOUNTS, less] });
  const rowsFor = (account: string | undefined, until: 'open' | 'green') =>
    checkFollowing(
      { tracker: trackerAt(t, forge.url, account === undefined ? {} : { token: account }) },
      workflowWith({ follow: { until } }),
      new AbortController().signal,
    );
  assert.deepEqual(await rowsFor(token, 'open'), []);
  assert.deepEqual(
    (await rowsFor(undefined, 'green')).map(({ status }) => status),
    ['ok'],
  );
  const [row] = await rowsFor(token, 'green');
  assert.deepEqual([row?.status, row?.code], ['warn', 'permissions_lacking']);
  assert.match(row?.says ?? '', /"Checks: read"/);
  assert.match(row?.says ?? '', /"Commit statuses: read"/);
  assert.doesNotMatch(row?.says ?? '', /Actions|Pull requests/);
});
