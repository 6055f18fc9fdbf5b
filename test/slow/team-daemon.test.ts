// A team on a labelled issue: the compiled daemon, the embedded forge, teammates that are processes, real git.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { TeamSummary } from '../../src/agents/rules/team-summary.ts';
import { SCRIPT_VARIABLE } from '../../src/cli/agents/agent-teammate.ts';
import { DEMO_FILES, DEMO_SCRIPT, DEMO_SPEC } from '../../src/cli/demo/demo-team-project.ts';
import { CLI, Daemon, type DaemonOptions } from '../support/daemon.ts';
import { commitFiles, gitAs, startForge, type TestForge } from '../support/forge.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const TEAM_ISSUE = { body: `Please build ${DEMO_SPEC}, as it was approved.` };

/** Plays a teammate where it is one; alone with an issue, it commits a file and asks for the pull request. */
const PROGRAM = `if [ -n "$TOOL_TEAMMATE" ]; then exec '${process.execPath}' '${CLI}' agent teammate; fi
cat > prompt.txt && git add -A && git commit -qm 'Alone' && tool pr create --title 'Alone' --body 'by one agent'`;

async function watched(t: Cleanup, forge: TestForge, mode: string, think: number, more: DaemonOptions = {}, yaml = '') {
  const script = join(tempDir(t), 'script.json');
  const text = JSON.stringify(DEMO_SCRIPT, (key, value) => (key === 'think_ms' ? think : value));
  writeFileSync(script, text);
  return Daemon.start(t, forge, {
    yaml: `tool: { runtime: command, mode: ${mode}, command: ${JSON.stringify(PROGRAM)}, env: [${SCRIPT_VARIABLE}] }\n${yaml}`,
    ...more,
    env: { [SCRIPT_VARIABLE]: script },
  });
}

const TEAM = 'tool-run-issue-1';

test('an issue that names a SPEC is built by a team, and ends in one pull request with the report', async (t) => {
  const forge = await startForge(t, DEMO_FILES);
  const issue = await forge.open('Let visitors sign the guest book', TEAM_ISSUE);
  const daemon = await watched(t, forge, 'team', 300);
  const api = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${daemon.port}${path}`);
    return { status: response.status, text: await response.text() };
  };
  const seen = new Map<string, TeamSummary>();
  let page = '';
  let dashboard = '';
  await daemon.until('the done label', async () => {
    const [running] = (await daemon.state()).running;
    if (running?.team != null) {
      seen.set(running.team.state, running.team);
      if (dashboard === '' && running.team.task_counts.in_progress > 0) {
        dashboard = (await api('/status')).text;
        const html = await fetch(`http://127.0.0.1:${daemon.port}/`, { headers: { accept: 'text/html' } });
        page = await html.text();
        const named = JSON.parse((await api(`/api/v1/teams/${TEAM}`)).text);
        assert.equal(named.issue_number, issue);
        assert.equal(JSON.parse((await api('/api/v1/teams')).text).teams.length, 1);
      }
    }
    return (await forge.labelsOf(issue)).includes('tool-done');
  });

  assert.match(dashboard, /TEAM OF #1 · tool-run-issue-1 · working · implementation · \d of \d tasks/);
  assert.match(dashboard, /backend-dev/);
  assert.match(page, /aria-label="Team of issue 1"/);
  const last = [...seen.values()].at(-1);
  assert.ok(last !== undefined);
  assert.ok(last.messages.count > 0, 'messages are told');
  assert.ok(last.rejections > 0, 'so are rejections');
  assert.match((await api('/api/v1/teams/tool-run-other')).text, /there is no team tool-run-other at work/);

  const pulls = await forge.pulls();
  assert.equal(pulls.length, 1);
  const [pull] = pulls;
  assert.equal(pull?.title, 'Let visitors sign the guest book');
  assert.match(pull?.body ?? '', /files on `tool\/issue-1`/);
  assert.match(pull?.body ?? '', /## Tasks[\s\S]*backend-dev[\s\S]*## Gate\n\nPassed\.[\s\S]*Closes #1/);
  const files = await gitAs(forge.bare, 'diff', '--name-only', 'main', pull?.head ?? '');
  assert.deepEqual(
    files
      .trim()
      .split('\n')
      .filter((path) => !path.startsWith('src/') && !path.startsWith('tests/')),
    [],
  );
  const log = await gitAs(forge.bare, 'log', '--format=%an', `main..${pull?.head ?? ''}`);
  assert.ok(new Set(log.trim().split('\n')).size >= 3, 'each commit names who made it');
});

test('an issue that names a SPEC which nobody has approved is given up with what is missing, and goes on once it is approved', async (t) => {
  const path = `.tool/specs/${DEMO_SPEC}/spec.md`;
  const approved = DEMO_FILES[path] ?? '';
  const forge = await startForge(t, { ...DEMO_FILES, [path]: approved.replace('status: approved', 'status: draft') });
  const issue = await forge.open('Let visitors sign the guest book', TEAM_ISSUE);
  const daemon = await watched(t, forge, 'team', 0, {}, 'agent: { max_attempts: 1 }');
  // The other label goes after that one has come. What is pushed at once is fetched, however young the last fetch is.
  await daemon.until('only the failed label', async () => (await forge.labelsOf(issue)).join() === 'tool-failed');
  const [comment] = await forge.comments(issue);
  assert.match(
    comment ?? '',
    /the issue names SPEC-GUESTBOOK-001, which is not approved \(status: draft\): `tool spec approve SPEC-GUESTBOOK-001`/,
  );
  assert.match(
    daemon.log,
    /\[agent\] {5}warn: attempt 1 on issue #1 failed: the issue names SPEC-GUESTBOOK-001, which is not approved/,
  );
  assert.deepEqual(await forge.pulls(), []);

  await commitFiles(forge.work, { [path]: approved }, 'Approve it');
  await gitAs(forge.work, 'push', '-q', 'origin', 'main');
  await forge.label(issue, 'tool-todo');
  await daemon.until('the done label', async () => (await forge.labelsOf(issue)).includes('tool-done'));
  const [pull] = await forge.pulls();
  assert.match(pull?.body ?? '', /## Decided on\n\n- the issue names SPEC-GUESTBOOK-001\n/);
});

test('once the SPEC that cannot be built is no longer named, the issue is worked on by its own words', async (t) => {
  const path = `.tool/specs/${DEMO_SPEC}/spec.md`;
  const draft = (DEMO_FILES[path] ?? '').replace('status: approved', 'status: draft');
  const forge = await startForge(t, { ...DEMO_FILES, [path]: draft });
  const issue = await forge.open('Mend a typo in README.md', { body: `It says teh, as ${DEMO_SPEC} does.` });
  const daemon = await watched(t, forge, 'auto', 0, {}, 'agent: { max_attempts: 1 }');
  await daemon.until('only the failed label', async () => (await forge.labelsOf(issue)).join() === 'tool-failed');
  const [comment] = await forge.comments(issue);
  assert.match(
    comment ?? '',
    /; once SPEC-GUESTBOOK-001 no longer stands in the issue's title and text, the issue is worked on by its own words/,
  );
  await forge.write(issue, 'It says teh.');
  await forge.label(issue, 'tool-todo');
  await daemon.until('the done label', async () => (await forge.labelsOf(issue)).includes('tool-done'));
  const [pull] = await forge.pulls();
  assert.match(pull?.body ?? '', /^by one agent/);
});

test('a team that cannot be one is told of in the daemon’s log', async (t) => {
  const config = '.tool/config/workflow.yaml';
  const off = JSON.stringify({ workflow: { team: { enabled: false, fallback: { log_level: 'error' } } } });
  const forge = await startForge(t, { ...DEMO_FILES, [config]: off });
  await forge.open('Let visitors sign the guest book', TEAM_ISSUE);
  const daemon = await watched(t, forge, 'team', 0);
  await daemon.logged('issue #1: sub-agents in place of a team: workflow.team.enabled is false');
  assert.match(daemon.log, /\[agent\] {5}error: issue #1: sub-agents/);
});

test('auto: a team where the thresholds are met, one agent where they are not', async (t) => {
  const forge = await startForge(t, DEMO_FILES);
  const small = await forge.open('Mend a typo in README.md', { body: 'It says teh.' });
  const large = await forge.open('Sign the guest book', TEAM_ISSUE);
  const daemon = await watched(t, forge, 'auto', 0);
  await daemon.until(
    'both',
    async () =>
      (await forge.labelsOf(small)).includes('tool-done') && (await forge.labelsOf(large)).includes('tool-done'),
  );
  const bodies = new Map((await forge.pulls()).map(({ head, body }) => [head, body]));
  assert.match(bodies.get('tool/issue-1') ?? '', /^by one agent/);
  assert.match(bodies.get('tool/issue-2') ?? '', /## Tasks/);
});

test('a daemon that is killed under a team goes on with it: finished tasks are not done again', async (t) => {
  const forge = await startForge(t, DEMO_FILES);
  const issue = await forge.open('Let visitors sign the guest book', TEAM_ISSUE);
  const daemon = await watched(t, forge, 'team', 300);
  const done = async () => (await daemon.state()).running[0]?.team?.task_counts.completed ?? 0;
  await daemon.until('two finished tasks', async () => (await done()) >= 2);
  await daemon.stop('SIGKILL');
  daemon.start();
  await daemon.until('the done label', async () => (await forge.labelsOf(issue)).includes('tool-done'));
  const pulls = await forge.pulls();
  assert.equal(pulls.length, 1);
  const merges = await gitAs(
    forge.bare,
    'log',
    '--merges',
    '--format=%(trailers:key=Task,valueonly)',
    `main..${pulls[0]?.head ?? ''}`,
  );
  const tasks = merges.split('\n').filter((line) => line !== '');
  assert.deepEqual([...new Set(tasks)].length, tasks.length, 'each task was merged once');
});
