// One daemon for many repositories.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { CLI_CODES } from '../../src/cli/rules/cli-codes.ts';
import { COMPOSE_CODES } from '../../src/compose/rules/compose-codes.ts';
import { GITHUB_CODES } from '../../src/daemon/rules/codes/github-codes.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { joined, lineLike, wordsLike } from '../support/codes.ts';
import { cleanEnv, runTool } from '../support/daemon.ts';
import { commitFiles, fields, gitAs } from '../support/forge.ts';
import { daemonFor, startForges } from '../support/two-forges.ts';

const WAITS = 'while [ ! -e go ]; do sleep 0.02; done; rm go';

test('two repositories: fair shares of one slot after the other, places of their own, and commands by name', async (t) => {
  const all = await startForges(t, ['shop', 'site']);
  const [shop, site] = [...all.forges.values()];
  assert.ok(shop && site);
  const issues = [await shop.open('one'), await shop.open('two'), await shop.open('three')];
  const other = await site.open('four');
  const daemon = await daemonFor(
    t,
    all,
    'repositories: [maintainer/shop, maintainer/site]',
    `${agentRunning(`${COMMITS}; ${WAITS}`)}\nagent: { max_concurrent_agents: 2 }\n`,
  );
  daemon.start();
  await daemon.until('two agents', async () => {
    const { running } = await daemon.state();
    return running.length === 2 && running.every((row) => row.last_message === 'finished');
  });
  const view = await daemon.state();
  assert.deepEqual(view.running.map((row) => row.issue_identifier).sort(), [
    `maintainer/shop#${issues[0]}`,
    `maintainer/site#${other}`,
  ]);
  assert.equal(view.repository, '2 repositories');
  assert.deepEqual(
    view.repositories?.map(({ repository, running, queued, problem }) => [repository, running, queued, problem]),
    [
      ['maintainer/shop', 1, 2, null],
      ['maintainer/site', 1, 0, null],
    ],
  );
  // One client is asked for all of them.
  const login = wordsLike(COMPOSE_CODES.login_broken);
  await daemon.logged(login);
  assert.equal(daemon.lines().filter((line) => login.test(line)).length, 1);
  const workspaceOf = (repo: string, issue: number | undefined) =>
    join(daemon.root, 'maintainer', repo, `issue-${issue}`);
  assert.ok(existsSync(join(workspaceOf('shop', issues[0]), '.git')));
  assert.ok(existsSync(join(daemon.stateDir, 'maintainer', 'site', 'journal.jsonl')));
  const tool = (...args: string[]) =>
    runTool([...args, daemon.workflow], { env: cleanEnv(daemon.home, { GITHUB_TOKEN: 'none' }) });
  const unnamed = await tool('explain', String(other));
  const known = ['maintainer/shop', 'maintainer/site'];
  assert.match(unnamed.stderr, lineLike(CLI_CODES.issue_repository_unknown, { known, got: 'without its repository' }));
  const foreign = await tool('pause', `maintainer/wiki#${other}`);
  assert.match(foreign.stderr, lineLike(CLI_CODES.issue_repository_unknown, { known, got: 'of maintainer/wiki' }));
  const explained = await tool('explain', `maintainer/site#${other}`);
  assert.match(explained.stdout, /now: attempt 1: agent at work/);
  const doctor: unknown = JSON.parse((await tool('doctor', '--json')).stdout);
  const checks = fields(doctor).checks;
  const rows = Array.isArray(checks) ? checks.map((row) => [fields(row).name, fields(row).status]) : [];
  for (const name of ['maintainer/shop', 'maintainer/site'])
    assert.deepEqual(
      rows.filter(([one]) => one === name),
      [[name, 'ok']],
    );
  const paused = await tool('pause', `maintainer/site#${other}`);
  assert.match(paused.stdout, new RegExp(`issue maintainer/site#${other} is paused`));
  // The slot that is free is the other repository's, which alone waits for one.
  await daemon.until('its second agent', async () => (await daemon.state()).repositories?.[0]?.running === 2);
  const resumed = await tool('resume', `maintainer/site#${other}`);
  assert.equal(resumed.code, 0, resumed.stderr);
  // `site` holds none now: the next free slot is its own, though `shop` has an issue that waits longer.
  const waits = wordsLike(WORK_CODES.issue_waits_for_slot);
  await daemon.until('it waits', async () => waits.test((await tool('explain', `maintainer/site#${other}`)).stdout));
  writeFileSync(join(workspaceOf('shop', issues[0]), 'go'), '');
  await daemon.until('it goes on', async () => (await daemon.state()).repositories?.[1]?.running === 1);
  assert.deepEqual(
    (await daemon.state()).queued.map((row) => row.issue_identifier),
    [`maintainer/shop#${issues[2]}`],
  );
  const api = (path: string) => fetch(`http://127.0.0.1:${daemon.port}${path}`);
  assert.equal((await api(`/api/v1/issues/${other}`)).status, 404);
  const details: unknown = await (await api(`/api/v1/repositories/maintainer/site/issues/${other}`)).json();
  assert.equal(fields(fields(details).running).issue_identifier, `maintainer/site#${other}`);
  const page = await (
    await fetch(`http://127.0.0.1:${daemon.port}/repositories/maintainer/site/issues/${other}`, {
      headers: { accept: 'text/html' },
    })
  ).text();
  assert.match(page, new RegExp(`<h1>.*maintainer/site#${other}</a> four</h1>`));
  const text = await (await api('/')).text();
  assert.match(text, new RegExp(`maintainer/site#${other}`));
  await daemon.until('the first one is published', async () => (await shop.pulls()).length === 1);
});

test('all repositories of an owner: a new one is found, and one that is gone is let go', async (t) => {
  const all = await startForges(t, ['shop', 'site']);
  const [shop, site] = [...all.forges.values()];
  assert.ok(shop && site);
  const issue = await shop.open('one');
  await site.open('two');
  const listed = all.listed;
  all.listed = [...listed.slice(0, 1), { full_name: 'maintainer/old', owner: { login: 'maintainer' }, archived: true }];
  const names = 'repositories: maintainer/*, topic: agents';
  const daemon = await daemonFor(t, all, names, agentRunning(COMMITS));
  daemon.start();
  await daemon.until('its pull request', async () => (await shop.pulls()).length === 1);
  assert.doesNotMatch(daemon.log, /maintainer\/(site|old)/);
  all.listed = listed;
  await daemon.refresh();
  await daemon.until('the other one', async () => (await site.pulls()).length === 1);
  all.listed = listed.slice(1);
  await daemon.refresh();
  await daemon.logged('maintainer/shop: it is not watched any more');
  const agent = `maintainer/shop#${issue}`;
  const explained = await runTool(['explain', agent, daemon.workflow], { env: cleanEnv(daemon.home) });
  assert.match(explained.stdout, /taken up: one/);
  all.listed = [];
  await daemon.refresh();
  await daemon.logged(lineLike(GITHUB_CODES.owner_without_repositories, { owner: 'maintainer', topic: 'agents' }));
  await daemon.logged('maintainer/site: it is not watched any more');
  assert.deepEqual((await daemon.state()).repositories, []);
});

test('repositories that cannot be worked on hold nobody up, and an agent sees nothing of another repository', async (t) => {
  const all = await startForges(t, ['shop', 'site']);
  const [, site] = [...all.forges.values()];
  assert.ok(site);
  const issue = await site.open('one');
  const script = `echo "seen: $(ls -A ../../shop ../../../../state/maintainer/shop | wc -l)"; ${COMMITS}`;
  const names = 'repositories: [maintainer/missing, maintainer/taken, maintainer/shop, maintainer/site]';
  const daemon = await daemonFor(t, all, names, `${agentRunning(script)}\nagent: { max_concurrent_agents: 1 }\n`);
  mkdirSync(join(daemon.root, 'maintainer'), { recursive: true });
  writeFileSync(join(daemon.root, 'maintainer', 'taken'), 'a file in the place of a directory');
  daemon.start();
  await daemon.until('the pull request', async () => (await site.pulls()).length === 1);
  const problems = (await daemon.state()).repositories?.map(({ repository, problem }) => [
    repository,
    problem !== null,
  ]);
  assert.deepEqual(problems, [
    ['maintainer/missing', true],
    ['maintainer/shop', false],
    ['maintainer/site', false],
    ['maintainer/taken', true],
  ]);
  const unusable = lineLike(COMPOSE_CODES.repository_unusable, { said: /.*EEXIST.*/ });
  assert.match(daemon.log, joined('maintainer/taken: ', unusable));
  const logs = await runTool(['logs', `maintainer/site#${issue}`, daemon.workflow], { env: cleanEnv(daemon.home) });
  if (daemon.log.includes('agents run in namespaces')) assert.match(logs.stdout, /seen: [0-3]$/m);
  assert.equal(await daemon.stop(), 143);
});

test('a repository whose first clone hangs holds up no other one', async (t) => {
  const all = await startForges(t, ['shop', 'site']);
  const [shop, site] = [...all.forges.values()];
  assert.ok(shop && site);
  await shop.open('one');
  await site.open('two');
  all.holds = (path) => path.startsWith('/maintainer/shop.git');
  const names = 'repositories: [maintainer/shop, maintainer/site]';
  const script = `if [ -n "$TOOL_REVIEW" ]; then echo '{"findings":[]}'; exit 0; fi\n${COMMITS}`;
  // A reviewer that the package does not have is looked for in the clone, before anything else.
  const reviewer = 'review: { agent: reader }';
  await commitFiles(
    site.work,
    { '.claude/agents/reader.md': '---\nname: reader\ndescription: d\n---\nRead.\n' },
    'Reader',
  );
  await gitAs(site.work, 'push', '--quiet', site.bare, 'main');
  const daemon = await daemonFor(
    t,
    all,
    names,
    // One slot is kept for the repository that is being opened.
    `${agentRunning(script)}\nagent: { max_concurrent_agents: 2 }\n${reviewer}\n`,
  );
  daemon.start();
  await daemon.until('the pull request', async () => (await site.pulls()).length === 1);
  assert.deepEqual(
    (await daemon.state()).repositories?.map(({ repository }) => repository),
    ['maintainer/shop', 'maintainer/site'],
  );
  assert.equal(await daemon.stop(), 143);
});
