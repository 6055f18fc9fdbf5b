// A team on a labelled issue: the compiled daemon, the embedded forge, teammates that are processes, real git.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { TeamSummary } from '../../src/agents/rules/team-summary.ts';
import { SCRIPT_VARIABLE, type TeammateScript } from '../../src/cli/agents/agent-teammate.ts';
import { DEMO_FILES, DEMO_SCRIPT, DEMO_SPEC } from '../../src/cli/demo/demo-team-project.ts';
import { LEAD_CODES } from '../../src/team/rules/codes/lead-codes.ts';
import { joined, textLike, wordsLike } from '../support/codes.ts';
import { CLI, cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { commitFiles, fields, gitAs, startForge, type TestForge } from '../support/forge.ts';
import { SHOP_FILES, SPEC, shopScript } from '../support/shop-spec.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const TEAM_ISSUE = { body: `Please build ${DEMO_SPEC}, as it was approved.` };
const SHOP_ISSUE = { body: `Please build ${SPEC}, as it was approved.` };

/** Plays a teammate where it is one; alone with an issue, it commits a file and asks for the pull request. */
const PROGRAM = `if [ -n "$TOOL_TEAMMATE" ]; then exec '${process.execPath}' '${CLI}' agent teammate; fi
cat > prompt.txt && git add -A && git commit -qm 'Alone' && tool pr create --title 'Alone' --body 'by one agent'`;

/** The demo's script, with so long to think in each step. */
function demoScript(think: number): TeammateScript {
  return JSON.parse(JSON.stringify(DEMO_SCRIPT, (key, value) => (key === 'think_ms' ? think : value)));
}

/** @param script what a team's members do; it may change between two starts of the daemon */
async function watched(
  t: Cleanup,
  forge: TestForge,
  mode: string,
  script: TeammateScript,
  yaml = '',
  program = PROGRAM,
) {
  const path = join(tempDir(t), 'script.json');
  const play = (now: TeammateScript) => writeFileSync(path, JSON.stringify(now));
  play(script);
  const daemon = await Daemon.start(t, forge, {
    yaml: `tool: { runtime: command, mode: ${mode}, command: ${JSON.stringify(program)}, env: [${SCRIPT_VARIABLE}] }\n${yaml}`,
    env: { [SCRIPT_VARIABLE]: path },
  });
  return { daemon, play };
}

const TEAM = 'tool-run-issue-1';

test('an issue that names a SPEC is built by a team, and ends in one pull request with the report; a small one by one agent', async (t) => {
  const forge = await startForge(t, DEMO_FILES);
  const issue = await forge.open('Let visitors sign the guest book', TEAM_ISSUE);
  const small = await forge.open('Mend a typo in README.md', { body: 'It says teh.' });
  const { daemon } = await watched(t, forge, 'auto', demoScript(300));
  const api = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${daemon.port}${path}`);
    return { status: response.status, text: await response.text() };
  };
  const seen = new Map<string, TeamSummary>();
  let page = '';
  let dashboard = '';
  await daemon.until('the done labels', async () => {
    const running = (await daemon.state()).running.find(({ team }) => team != null);
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
    const labels = await Promise.all([issue, small].map((one) => forge.labelsOf(one)));
    return labels.every((list) => list.includes('tool-done'));
  });

  assert.match(dashboard, /TEAM OF #1 · tool-run-issue-1 · working · implementation · \d of \d tasks/);
  assert.match(dashboard, /backend-dev/);
  assert.match(page, /aria-label="Team of issue 1"/);
  const last = [...seen.values()].at(-1);
  assert.ok(last !== undefined);
  assert.ok(last.messages.count > 0, 'messages are told');
  assert.ok(last.rejections > 0, 'so are rejections');
  const { error } = JSON.parse((await api('/api/v1/teams/tool-run-other')).text);
  assert.equal(error.code, 'not_found');
  assert.match(error.message, /\btool-run-other\b/);

  const pulls = await forge.pulls();
  const of = new Map(pulls.map((pull) => [pull.head, pull]));
  assert.deepEqual([...of.keys()].sort(), ['tool/issue-1', 'tool/issue-2']);
  assert.match(of.get('tool/issue-2')?.body ?? '', /^by one agent/);
  const pull = of.get('tool/issue-1');
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

test('a used-up quota of the teammates pauses the runtime, and the team goes on as one', async (t) => {
  const forge = await startForge(t, SHOP_FILES);
  const issue = await forge.open('Greet visitors', SHOP_ISSUE);
  const spent = join(tempDir(t), 'spent');
  writeFileSync(spent, '');
  const program = `if [ -e '${spent}' ]; then echo 'Retry-After: 3600' >&2; exit 75; fi\n${PROGRAM}`;
  const { daemon } = await watched(t, forge, 'team', shopScript(), 'agent: { max_attempts: 1 }', program);
  const waits = async () => (await daemon.state()).retrying[0];
  await daemon.until('the issue waits for the quota', async () => (await waits()) !== undefined);
  assert.match((await waits())?.last_error ?? '', wordsLike(LEAD_CODES.member_quota_spent, { member: /[\w-]+/ }));
  const second = await forge.open('Mend a typo', { body: 'It says teh.' });
  await daemon.until('the next issue waits as well', async () => {
    const row = (await daemon.state()).queued.find(({ issue_number: number }) => number === second);
    return row !== undefined && /no quota|quota/.test(row.reason);
  });
  rmSync(spent);
  const { code, stderr } = await runTool(['retry', String(issue), daemon.workflow], { env: cleanEnv(daemon.home) });
  assert.equal(code, 0, stderr);
  await daemon.until('the done label', async () => (await forge.labelsOf(issue)).join() === 'tool-done');
  assert.doesNotMatch(daemon.log, /sub-agents in place of/);
  const pull = (await forge.pulls()).find(({ head }) => head === `tool/issue-${issue}`);
  assert.match(pull?.body ?? '', /by \d teammates/);
});

test('an issue that names a SPEC which nobody has approved is given up with what is missing, and goes on once it is approved', async (t) => {
  const path = `.tool/specs/${SPEC}/spec.md`;
  const approved = SHOP_FILES[path] ?? '';
  const forge = await startForge(t, { ...SHOP_FILES, [path]: approved.replace('status: approved', 'status: draft') });
  const issue = await forge.open('Greet visitors', SHOP_ISSUE);
  const { daemon } = await watched(t, forge, 'team', shopScript(), 'agent: { max_attempts: 1 }');
  // The other label goes after that one has come. What is pushed at once is fetched, however young the last fetch is.
  await daemon.until('only the failed label', async () => (await forge.labelsOf(issue)).join() === 'tool-failed');
  const [comment] = await forge.comments(issue);
  assert.match(comment ?? '', textLike(LEAD_CODES.issue_spec_not_approved, { spec: SPEC, why: 'status: draft' }));
  assert.match(
    daemon.log,
    /\[agent\] {5}warn: attempt 1 on issue #1 failed: SPEC-SHOP-001, .*\(issue_spec_not_approved\)/,
  );
  assert.deepEqual(await forge.pulls(), []);

  await commitFiles(forge.work, { [path]: approved }, 'Approve it');
  await gitAs(forge.work, 'push', '-q', 'origin', 'main');
  await forge.label(issue, 'tool-todo');
  await daemon.until('the done label', async () => (await forge.labelsOf(issue)).includes('tool-done'));
  const [pull] = await forge.pulls();
  assert.match(pull?.body ?? '', /## Decided on\n\n- the issue names SPEC-SHOP-001\n/);
});

test('once the SPEC that cannot be built is no longer named, the issue is worked on by its own words', async (t) => {
  const path = `.tool/specs/${DEMO_SPEC}/spec.md`;
  const draft = (DEMO_FILES[path] ?? '').replace('status: approved', 'status: draft');
  const forge = await startForge(t, { ...DEMO_FILES, [path]: draft });
  const issue = await forge.open('Mend a typo in README.md', { body: `It says teh, as ${DEMO_SPEC} does.` });
  const { daemon } = await watched(t, forge, 'auto', demoScript(0), 'agent: { max_attempts: 1 }');
  await daemon.until('only the failed label', async () => (await forge.labelsOf(issue)).join() === 'tool-failed');
  const [comment] = await forge.comments(issue);
  assert.match(comment ?? '', /take SPEC-GUESTBOOK-001 out of the title and text of the issue/);
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
  const { daemon } = await watched(t, forge, 'team', demoScript(0));
  await daemon.logged(
    joined('issue #1: ', wordsLike(LEAD_CODES.subagents_instead, { why: /workflow\.team\.enabled is false.*/ })),
  );
  assert.match(daemon.log, /\[agent\] {5}error: issue #1: sub-agents/);
});

test('a daemon that is killed under a team goes on with it: finished tasks are not done again', async (t) => {
  const forge = await startForge(t, SHOP_FILES);
  const issue = await forge.open('Greet visitors', SHOP_ISSUE);
  const { daemon, play } = await watched(t, forge, 'team', shopScript({ T3: 3_600_000 }));
  const done = async () => (await daemon.state()).running[0]?.team?.task_counts.completed ?? 0;
  await daemon.until('two finished tasks', async () => (await done()) >= 2);
  await daemon.stop('SIGKILL');
  play(shopScript());
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

/** @param round its tasks are done so, by whoever has them */
function roundParts(round: number, path: string, thinkMs = 0) {
  const subject = `Round ${round}`;
  const steps = [{ think_ms: thinkMs }, { write: { path, text: `export const round = ${round};\n` } }];
  return {
    'backend-dev': { subject, steps, result: `Wrote ${path}` },
    'frontend-dev': { subject, steps: [] },
    tester: { subject, steps: [] },
  };
}

test('a later round has a team as well: of a required gate, killed in its middle, and of a red check', async (t) => {
  const config = '.tool/config/workflow.yaml';
  // Passes before the work, and after it with what the second round brings.
  const lint = `node -e "const { existsSync } = require('fs'); process.exit(existsSync('src/pages/greeting.js') && !existsSync('src/api/second.js') ? 1 : 0)"`;
  const service = await startForge(t, {
    ...SHOP_FILES,
    [config]: `${SHOP_FILES[config]}quality:\n  commands:\n    lint: ${JSON.stringify(lint)}\n`,
  });
  const { forge } = service;
  const issue = await service.open('Greet visitors', SHOP_ISSUE);
  const scriptOf = (thinkMs: number): TeammateScript => {
    const second = roundParts(2, 'src/api/second.js', thinkMs);
    const third = roundParts(3, 'src/api/third.js');
    return Object.fromEntries(
      Object.entries(shopScript()).map(([name, part]) => {
        const role = name === 'backend-dev' || name === 'frontend-dev' ? name : 'tester';
        return [name, { ...part, tasks: [...part.tasks, second[role], third[role]] }];
      }),
    );
  };
  const { daemon, play } = await watched(
    t,
    service,
    'team',
    scriptOf(3_600_000),
    'gate: { mode: required }\nfollow: { until: green }',
  );
  const running = async () => (await daemon.state()).running[0]?.team ?? null;
  await daemon.until('the second round is at work', async () => {
    const team = await running();
    return team?.team === `${TEAM}-round-2` && team.task_counts.in_progress > 0;
  });
  await daemon.stop('SIGKILL');
  play(scriptOf(0));
  daemon.start();
  const followed = (rounds: number) =>
    daemon.until(`followed after ${rounds} rounds`, async () => {
      const [row] = (await daemon.state()).following;
      return fields(row).rounds === rounds;
    });
  await daemon.until('the pull request', async () => (await service.pulls()).length === 1);
  await followed(0);
  const head = async () => {
    const [pull] = await service.pulls();
    return (await gitAs(service.bare, 'rev-parse', pull?.head ?? '')).trim();
  };
  const first = await head();
  await gitAs(service.bare, 'cat-file', '-e', `${first}:src/api/second.js`);
  const [opened] = await service.pulls();
  assert.match(opened?.body ?? '', /## Tasks[\s\S]*# issue \\#1, round 2: Greet visitors/);

  forge.checks.finish(forge.checks.start(first, 'build'), 'failure', {
    step: 'npm test',
    log: 'third.js is missing\n',
  });
  await followed(1);
  const second = await head();
  await gitAs(service.bare, 'cat-file', '-e', `${second}:src/api/third.js`);
  forge.checks.finish(forge.checks.start(second, 'build'), 'success');
  await daemon.logged('a person merges it');
  assert.deepEqual(await service.labelsOf(issue), ['tool-done']);
  const details = JSON.parse(await (await fetch(`http://127.0.0.1:${daemon.port}/api/v1/issues/${issue}`)).text());
  assert.equal(details.team.team, `${TEAM}-round-3`);
  assert.equal((await service.pulls()).length, 1);
});
