// Files of repositories, in one daemon for two of them: prompt, labels, warnings and hooks.

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import { agentRunning } from '../support/agents.ts';
import { cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { commitFiles, DAEMON_TOKEN, gitAs, startForge, type TestForge } from '../support/forge.ts';
import { startForges } from '../support/two-forges.ts';

const OWN = `---
active_states: ready
tracker: { done_label: shipped, draft: true }
hooks:
  after_create: echo "prepared in $(pwd)"
  before_run: |
    echo "hook token:$GITHUB_TOKEN:$OF_THE_OPERATOR:$TOOL_SOCKET:"
    cat "$HOME/../../../../../journal.jsonl" >/dev/null 2>&1 && echo "hook reads" || true
    echo x > from-hook.txt
---
Mine at $HOME: {{ issue.title }}
`;
const AGENT = `echo "PROMPT $(cat)"; ls from-hook.txt 2>/dev/null || true; echo x > work.txt; git add work.txt; git commit -qm work`;

async function push(forge: TestForge, files: Readonly<Record<string, string>>): Promise<string> {
  const commit = await commitFiles(forge.work, files, 'Change the file');
  await gitAs(forge.work, 'push', '--quiet', 'origin', 'HEAD:main');
  return commit;
}

test('one repository has a file of its own, the other has none', async (t) => {
  const all = await startForges(t, ['shop', 'site']);
  const [shop, site] = [...all.forges.values()];
  assert.ok(shop && site);
  const commit = await push(shop, { 'WORKFLOW.md': OWN });
  const daemon = await Daemon.create(t, shop, {
    apiUrl: all.url,
    env: { OF_THE_OPERATOR: 'secret' },
    yaml: agentRunning(AGENT),
    prompt: 'Of the operator: {{ issue.title }}',
  });
  const names = 'repositories: [maintainer/shop, maintainer/site], repository_workflow: [prompt, labels]';
  daemon.overwrite(daemon.read().replace('repo: maintainer/project', names));
  const tool = async (...args: string[]) =>
    (await runTool([...args, daemon.workflow], { env: cleanEnv(daemon.home, { GITHUB_TOKEN: DAEMON_TOKEN }) })).stdout;
  const own = await shop.open('one', { label: 'ready' });
  const ignored = await shop.open('by the label of the operator');
  const other = await site.open('two');
  daemon.start();
  await daemon.until('both are done', async () => (await daemon.state()).counts.completed === 2);
  assert.deepEqual(await shop.labelsOf(own), ['shipped']);
  assert.deepEqual(await shop.labelsOf(ignored), ['tool-todo']);
  assert.deepEqual(await site.labelsOf(other), ['tool-done']);
  const short = commit.slice(0, 7);
  const logs = await tool('logs', `maintainer/shop#${own}`);
  assert.match(logs, /PROMPT Mine at \$HOME: one/);
  assert.doesNotMatch(logs, /from-hook|hook token/);
  assert.match(await tool('logs', `maintainer/site#${other}`), /PROMPT Of the operator: two/);
  const words = `prompt, active_states, done_label from WORKFLOW.md at ${short}`;
  assert.ok((await tool('explain', `maintainer/shop#${own}`)).includes(words));
  const refused =
    /WORKFLOW\.md at \w{7} sets what .* not allow: tracker\.draft, hooks\.after_create, hooks\.before_run/g;
  assert.equal(daemon.log.match(refused)?.length, 1);
  const state = await daemon.state();
  assert.deepEqual(
    state.workflow.own_files?.map(({ repository, commit: at, warnings }) => [repository, at, warnings.length]),
    [['maintainer/shop', commit, 1]],
  );
  const doctor = await tool('doctor');
  assert.ok(doctor.includes(short) && doctor.includes('tracker.draft'), doctor);
  await daemon.stop();

  daemon.overwrite(daemon.read().replace('polling:', 'hooks: { from_repository: true }\npolling:'));
  const third = await shop.open('three', { label: 'ready' });
  daemon.start();
  await daemon.until('the third is done', async () => (await shop.labelsOf(third)).includes('shipped'));
  const hooked = await tool('logs', `maintainer/shop#${third}`);
  assert.match(hooked, /prepared in .*issue-\d+[\s\S]*hook token::::[\s\S]*from-hook\.txt/);
});

test('all repositories of an owner, as an App', async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const service = await startForge(t, undefined, { apps: [{ id: 7, slug: 'crew', publicKey, installed: 'yes' }] });
  const issue = await service.open('one');
  const daemon = await Daemon.create(t, service, {
    tracker: 'app_id: 7, private_key: $APP_KEY',
    env: { APP_KEY: privateKey, GITHUB_TOKEN: '' },
    yaml: agentRunning(AGENT),
  });
  daemon.overwrite(daemon.read().replace('repo: maintainer/project', 'repositories: ["maintainer/*"]'));
  daemon.start();
  await daemon.until('it is done', async () => (await service.labelsOf(issue)).includes('tool-done'));
  service.forge.apps.listed = [];
  await daemon.refresh();
  await daemon.logged('can read no repository of maintainer');
});
