// The daemon as a user starts it, on the embedded forge.
// Over 400 lines: its cases share one forge.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import { processesOfRun } from '../../src/base/processes/processes.ts';
import { BASE_CODES } from '../../src/base/rules/base-codes.ts';
import { CONFIG_CODES } from '../../src/daemon/rules/codes/config-codes.ts';
import { GITHUB_CODES } from '../../src/daemon/rules/codes/github-codes.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { LEAD_CODES } from '../../src/team/rules/codes/lead-codes.ts';
import { agentRunning, COMMITS, FAILS } from '../support/agents.ts';
import { joined, lineLike, textLike, wordsLike, wordsOf } from '../support/codes.ts';
import { cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { FaultyProxy } from '../support/faulty-proxy.ts';
import { commitFiles, DAEMON_TOKEN, gitAs, startForge } from '../support/forge.ts';
import { finallyDo, tempDir } from '../support/temp.ts';

test('a labelled issue becomes a pull request; the log says so in the order and form that is documented', async (t) => {
  const forge = await startForge(t);
  await commitFiles(forge.work, { '.github/PULL_REQUEST_TEMPLATE.md': '## Checklist\n\n- [ ] tested\n' }, 'template');
  await gitAs(forge.work, 'push', '--quiet', forge.bare, 'main');
  const issue = await forge.open('Fix the "greeting" \u001b[31m');
  const daemon = await Daemon.start(t, forge, {
    yaml: `${agentRunning(`${COMMITS}; while [ ! -e go ]; do sleep 0.02; done; rm go`)}\n`,
    tracker: 'draft: true',
  });
  await daemon.logged('starting on issue');
  await daemon.until('the agent speaks', async () => (await daemon.state()).running[0]?.last_message === 'finished');
  const [running] = (await daemon.state()).running;
  const { started_at, last_event_at, pid, ...row } = running ?? {};
  assert.deepEqual(row, {
    issue_number: issue,
    issue_identifier: `maintainer/project#${issue}`,
    issue_url: `${forge.forge.url}/maintainer/project/issues/${issue}`,
    title: 'Fix the "greeting" \\x1b[31m',
    state: 'tool-todo',
    attempt: 1,
    phase: 'agent',
    runtime: 'command',
    session_id: null,
    turn_count: 0,
    last_event: 'message',
    last_message: 'finished',
    workspace: join(daemon.root, `issue-${issue}`),
    branch: `tool/issue-${issue}`,
    pull_request: null,
    last_error: null,
    tokens: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    cost_usd: 0,
    team: null,
  });
  assert.ok(Number(pid) > 0 && Date.parse(started_at ?? '') > 0 && Date.parse(last_event_at ?? '') > 0);
  const workspace = join(daemon.root, `issue-${issue}`);
  assert.match(readFileSync(join(workspace, '.git', 'config'), 'utf8'), /pushurl = no-push:/);
  writeFileSync(join(workspace, 'go'), '');
  await daemon.logged('state changed to tool-done');
  // When the hosting client has answered is up to it.
  const lines = daemon.lines().filter((line) => !line.includes('gh auth status'));
  assert.match(lines[0] ?? '', /^\[http\] {6}status on http:\/\/localhost:\d+$/);
  assert.match(
    lines[1] ?? '',
    /^\[serve\] {5}watching 127\.0\.0\.1:\d+\/maintainer\/project for \[tool-todo\], token from \$GITHUB_TOKEN$/,
  );
  const [pull] = await forge.pulls();
  assert.deepEqual(
    lines.filter((line) => /^\[(poller|workspace|hook|agent)\]/.test(line)),
    [
      `[poller]    found issue #${issue} "Fix the "greeting" \\x1b[31m" [tool-todo]`,
      `[workspace] creating ${workspace}`,
      '[hook]      after_create',
      '[hook]      before_run',
      `[agent]     starting on issue #${issue} (attempt 1) with command`,
      `[agent]     done, pull request #${pull?.number}`,
      `[poller]    issue #${issue} state changed to tool-done`,
    ],
  );
  assert.deepEqual(pull, {
    number: 2,
    title: 'Do the work',
    body: `Do the work\n\nCloses #${issue}\n\n## Checklist\n\n- [ ] tested`,
    head: `tool/issue-${issue}`,
    draft: true,
  });
  assert.deepEqual(await forge.labelsOf(issue), ['tool-done']);
  await daemon.until('the workspace is gone', () => !existsSync(workspace));
  const { stdout } = await runTool(['logs', String(issue), daemon.workflow], { env: cleanEnv(daemon.home) });
  assert.equal(
    stdout,
    '=== attempt 1\n--- after_create\n--- before_run\n--- agent (command)\nworking on it\nfinished\n',
  );
  const state = await daemon.state();
  assert.deepEqual(state.counts, {
    running: 0,
    retrying: 0,
    asking: 0,
    following: 0,
    queued: 0,
    completed: 1,
    failed: 0,
  });
  assert.equal(state.completed[0]?.pull_request?.number, 2);
  const detail = await (await fetch(`http://127.0.0.1:${daemon.port}/api/v1/issues/${issue}`)).text();
  assert.equal(JSON.parse(detail).completed[0].outcome, 'done');
  assert.equal(JSON.parse(detail).attempts, 1);
  assert.equal(await daemon.stop('SIGTERM'), 143);
  assert.ok(!daemon.log.includes(DAEMON_TOKEN));
});

test('--log-format json is one object a line', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('one');
  const daemon = await Daemon.start(t, forge, {
    yaml: agentRunning(COMMITS),
    args: ['--log-format', 'json', '--once'],
  });
  assert.equal(await daemon.exit(), 0);
  const rows = daemon.lines().map((line) => JSON.parse(line));
  const found = rows.find((row) => String(row.message).startsWith('found issue'));
  assert.deepEqual(
    { ...found, time: '' },
    { time: '', level: 'info', source: 'poller', message: `found issue #${issue} "one" [tool-todo]`, issue },
  );
  assert.ok(rows.every((row) => Date.parse(row.time) > 0));
});

test('a daemon whose log nobody reads any more works on', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('one');
  const daemon = await Daemon.start(t, forge, {
    yaml: agentRunning(`${COMMITS}; while [ ! -e go ]; do sleep 0.02; done; rm go`),
  });
  await daemon.logged('starting on issue');
  daemon.deafen();
  writeFileSync(join(daemon.root, `issue-${issue}`, 'go'), '');
  await daemon.until('the issue is done', async () => (await forge.labelsOf(issue)).includes('tool-done'));
  assert.equal(await daemon.stop('SIGTERM'), 143);
});

test('--once polls once, finishes every issue it found, and ends with 0', async (t) => {
  const forge = await startForge(t);
  for (const title of ['one', 'two', 'three']) await forge.open(title);
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(COMMITS), args: ['--once', '--port', '0'] });
  assert.equal(await daemon.exit(), 0);
  assert.equal((await forge.pulls()).length, 3);
  for (const issue of [1, 2, 3]) assert.deepEqual(await forge.labelsOf(issue), ['tool-done']);
  assert.doesNotMatch(daemon.log, /status on/);
});

test('--once without an answer from the tracker ends with 1 and says why', async (t) => {
  const forge = await startForge(t);
  const proxy = await FaultyProxy.start(t, forge.forge.url);
  proxy.choose = () => 'status502';
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(COMMITS), args: ['--once'], apiUrl: proxy.url });
  assert.equal(await daemon.exit(), 1);
  const said = /.*it answered 502.*/;
  assert.match(daemon.log, joined(/\[poller\] {4}warn: /, lineLike(WORK_CODES.poll_skipped, { said })));
  assert.match(daemon.log, joined(/^tool: /, lineLike(WORK_CODES.poll_failed, { said })));
  assert.ok(proxy.times('status502') >= 1);
});

test('a repository that is not there, or not for this token, is named', async (t) => {
  const forge = await startForge(t);
  const proxy = await FaultyProxy.start(t, forge.forge.url);
  proxy.choose = () => 'notFound';
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(COMMITS), args: ['--once'], apiUrl: proxy.url });
  assert.equal(await daemon.exit(), 1);
  assert.match(daemon.log, textLike(GITHUB_CODES.repository_not_found, { repository: 'maintainer/project' }));
});

test('an issue whose label does not match is not detected; making the label match, while the daemon runs, is enough', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('one', { label: 'ready' });
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(COMMITS) });
  await daemon.until('two polls', async () => (await daemon.state()).poll.requests >= 2);
  assert.equal((await daemon.state()).counts.queued, 0);
  daemon.write(`active_states: [ready]\n${agentRunning(COMMITS)}`);
  await daemon.logged(`issue #${issue} state changed to tool-done`);
  assert.match(daemon.log, /\[workflow\] {2}read again/);
  assert.deepEqual(await forge.labelsOf(issue), ['tool-done']);
});

test('an invalid edit of the workflow file keeps the last good one and is seen in log and state', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(COMMITS) });
  await daemon.logged('watching');
  daemon.write(`agent: { max_atempts: 2 }\n${agentRunning(COMMITS)}`);
  await daemon.logged(
    joined(
      '[workflow]  error: ',
      wordsLike(CONFIG_CODES.workflow_invalid, {
        said: joined(
          /.*/,
          wordsLike(BASE_CODES.config_unknown_key, { key: 'agent.max_atempts' }),
          ' Did you mean agent.max_attempts?',
        ),
      }),
    ),
  );
  assert.match((await daemon.state()).workflow.error ?? '', /agent\.max_atempts/);
  const issue = await forge.open('still works');
  await daemon.logged(`issue #${issue} state changed to tool-done`);
});

test('a clone that fails is put down to the hosting login', async (t) => {
  const forge = await startForge(t);
  await forge.open('one');
  const daemon = await Daemon.start(t, forge, {
    yaml: `${agentRunning(COMMITS)}\nhooks: { after_create: "git clone -q ${forge.forge.url}/maintainer/nowhere.git ." }\nagent: { max_attempts: 1 }`,
  });
  await daemon.logged('state changed to tool-failed');
  assert.match(daemon.log, /after_create ended with exit code 128 \(if a clone failed: check `gh auth status`\)/);
  assert.match((await forge.comments(1))[0] ?? '', /check `gh auth status`/);
});

test('an agent that stalls is ended with everything it started, and the limit it broke is named', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('one');
  const daemon = await Daemon.start(t, forge, {
    yaml: `${agentRunning('echo started; setsid sleep 300 & sleep 300', 'stall_timeout_ms: 300')}\nagent: { max_attempts: 1 }`,
  });
  await daemon.logged('state changed to tool-failed');
  assert.match((await forge.comments(issue))[0] ?? '', wordsLike(LEAD_CODES.agent_stalled, { seconds: 0.3 }));
  const run = /"run":"([^"]+)"/.exec(readFileSync(join(daemon.stateDir, 'journal.jsonl'), 'utf8'))?.[1] ?? '';
  assert.notEqual(run, '');
  assert.deepEqual(processesOfRun(run), []);
});

test('a busy port is found before the first poll: exit 2, with the port and both ways out', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.create(t, forge, { yaml: agentRunning(COMMITS) });
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(daemon.port, '127.0.0.1', resolve));
  finallyDo(t, () => other.close());
  await forge.open('one');
  daemon.start();
  assert.equal(await daemon.exit(), 2);
  assert.match(
    daemon.log,
    new RegExp(
      `tool: Port ${daemon.port} on 127\\.0\\.0\\.1 is in use\\. Take another one with --port <n>, or switch the status server off with server\\.port: 0`,
    ),
  );
  assert.doesNotMatch(daemon.log, /found issue/);
  assert.deepEqual(await forge.labelsOf(1), ['tool-todo']);
  assert.equal(existsSync(join(daemon.stateDir, 'lock')), false, 'the lock is given back');
});

test('a second daemon on the same state directory refuses to start and says who holds it', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(COMMITS) });
  await daemon.logged('watching');
  const second = await runTool(['serve', daemon.workflow, '--port', '0'], {
    env: cleanEnv(daemon.home, { GITHUB_TOKEN: DAEMON_TOKEN }),
  });
  assert.equal(second.code, 2);
  assert.match(
    second.stderr,
    lineLike(CONFIG_CODES.state_in_use, {
      directory: daemon.stateDir,
      holder: `process ${daemon.pid}`,
      workflow: /.*WORKFLOW\.md/,
      page: `http://localhost:${daemon.port}`,
    }),
  );
});

test('what cannot work is said before anything starts: exit 2, every problem by its name', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.create(t, forge, {
    yaml: 'agent: { max_attempts: 0 }\ntool: { runtime: cluade }\nserve: 1',
  });
  const env = cleanEnv(daemon.home, { GITHUB_TOKEN: DAEMON_TOKEN });
  const broken = await runTool(['serve', daemon.workflow], { env });
  assert.equal(broken.code, 2);
  assert.match(
    broken.stderr,
    /has 3 problems: \(settings_invalid\)\n {2}agent\.max_attempts: .*\n {2}tool\.runtime: .*Did you mean claude\?\n {2}serve: .* Did you mean server\?/,
  );
  const missing = await runTool(['serve', join(daemon.directory, 'nowhere.md')], { env });
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /nowhere\.md: .*`tool serve init` writes one\. \(workflow_missing\)$/m);
  daemon.write(agentRunning(COMMITS));
  const anonymous = await runTool(['serve', daemon.workflow], {
    env: { ...cleanEnv(daemon.home), PATH: '/usr/bin:/bin' },
  });
  assert.equal(anonymous.code, 2);
  assert.match(anonymous.stderr, /127\.0\.0\.1:\d+ in .*\$GITHUB_TOKEN, \$GH_TOKEN.*\(token_missing\)$/m);
  const bare = await runTool(['serve', daemon.workflow], { env: { ...env, PATH: daemon.home } });
  assert.equal(bare.code, 2);
  assert.match(bare.stderr, /\(git_missing\)$/m);
  const usage = await runTool(['serve', daemon.workflow, '--prot', '1'], { env });
  assert.equal(usage.code, 2);
  assert.match(usage.stderr, /Unknown option '--prot'.*Did you mean --port\?/s);
});

test('a signal ends the agents in order, leaves the issue to the next start, and nothing running', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('one');
  const daemon = await Daemon.start(t, forge, {
    yaml: agentRunning(
      'if [ "$TOOL_ATTEMPT" = 2 ]; then echo again > work.txt; git add -A; git commit -qm "Again"; exit 0; fi; trap "echo ending in order; exit 0" TERM; echo up; while :; do sleep 0.05; done',
    ),
  });
  await daemon.until('the agent is up', async () => (await daemon.state()).running[0]?.last_message === 'up');
  assert.equal(await daemon.stop('SIGINT'), 130);
  assert.match(daemon.log, /^\[serve\] {5}SIGINT: agents at work are ended/m);
  const { stdout } = await runTool(['logs', '1', daemon.workflow], { env: cleanEnv(daemon.home) });
  assert.match(stdout, /up\n(Terminated\n)?ending in order\n/);
  daemon.start();
  await daemon.logged(`issue #${issue} state changed to tool-done`);
  assert.match(daemon.log, /\[agent\] {5}starting on issue #1 \(attempt 2\) with command/);
  assert.match(daemon.log, /\[workspace\] reusing/);
});

test('a signal while it starts ends it in order, although the service never answers', async (t) => {
  const forge = await startForge(t);
  const silent = createServer(() => undefined);
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  finallyDo(t, () => {
    silent.close();
    silent.closeAllConnections();
  });
  const address = silent.address();
  assert.ok(typeof address === 'object' && address !== null);
  const apiUrl = `http://127.0.0.1:${address.port}`;
  const daemon = await Daemon.start(t, forge, { apiUrl, yaml: agentRunning(COMMITS) });
  await daemon.logged('status on');
  assert.equal(await daemon.stop(), 143, daemon.log);
  assert.match(daemon.log, /SIGTERM: agents at work are ended/);
});

test('the label taken off stops the agent and keeps the workspace; the issue closed removes it', async (t) => {
  const forge = await startForge(t);
  const first = await forge.open('one');
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning('echo up; sleep 300') });
  await daemon.logged('starting on issue #1');
  await forge.unlabel(first, 'tool-todo');
  await daemon.logged('issue #1 lost its active label; it is let go');
  await daemon.logged(/attempt 1 on issue #1 was cancelled/);
  assert.ok(existsSync(join(daemon.root, 'issue-1')));
  await forge.label(first, 'tool-todo');
  await daemon.logged('starting on issue #1 (attempt 2)');
  await forge.close(first);
  await daemon.logged('issue #1 was closed; it is let go');
  await daemon.until('the workspace is gone', () => !existsSync(join(daemon.root, 'issue-1')));
});

test('a failing agent is tried again, then the issue gets the failed label and a comment that says why and how to go on', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('one');
  const daemon = await Daemon.start(t, forge, {
    yaml: `${agentRunning(FAILS)}\nagent: { max_attempts: 2, max_retry_backoff_ms: 50 }`,
  });
  await daemon.logged('state changed to tool-failed');
  assert.deepEqual(await forge.labelsOf(issue), ['tool-failed']);
  const [comment = ''] = await forge.comments(issue);
  assert.match(comment, /could not be finished: 2 attempts on branch `tool\/issue-1`/);
  assert.match(comment, /it ended with exit code 3: cannot do it/);
  assert.match(comment, /put the label `tool-todo` back on/);
  assert.ok(comment.includes(`directory ${join(daemon.root, 'issue-1')}\n`), comment);
  daemon.write(agentRunning(COMMITS));
  await daemon.logged('read again');
  await forge.label(issue, 'tool-todo');
  await daemon.logged('state changed to tool-done');
  assert.deepEqual(await forge.labelsOf(issue), ['tool-done']);
  assert.match(daemon.log, /starting on issue #1 \(attempt 3\)/);
});

test('a pull request that is open already is found, not opened twice', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('one');
  await gitAs(forge.work, 'checkout', '--quiet', '-b', `tool/issue-${issue}`);
  await commitFiles(forge.work, { 'early.txt': 'x' }, 'by hand');
  await gitAs(forge.work, 'push', '--quiet', forge.bare, `tool/issue-${issue}`);
  await forge.forge.call('maintainer', 'POST', '/repos/maintainer/project/pulls', {
    title: 'By hand',
    head: `tool/issue-${issue}`,
    base: 'main',
  });
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(COMMITS) });
  await daemon.logged(`issue #${issue} state changed to tool-done`);
  const pulls = await forge.pulls();
  assert.deepEqual(
    pulls.map(({ title }) => title),
    ['By hand'],
  );
  assert.match(await gitAs(forge.bare, 'log', '--format=%s', `tool/issue-${issue}`), /Do the work\nby hand/);
});

test('an issue by a stranger waits; log, state and page say why', async (t) => {
  const forge = await startForge(t);
  await forge.open('Please', { author: 'stranger' });
  await forge.open('Labelled by one who may not write', { by: 'triager' });
  await forge.open('From a bot', { author: 'helper[bot]', by: 'maintainer' });
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(COMMITS) });
  await daemon.logged('issue #3 state changed to tool-done');
  const untrusted = (person: string, role: string) => wordsOf(WORK_CODES.issue_untrusted, { person, role });
  assert.match(daemon.log, joined('issue #1 "Please" waits: ', untrusted('stranger', 'wrote it')));
  assert.match(daemon.log, joined(/issue #2 .* waits: /, untrusted('triager', 'put tool-todo on it')));
  const state = await daemon.state();
  assert.deepEqual(
    state.queued.map(({ issue_number, author }) => `${issue_number} ${author}`),
    ['2 maintainer', '1 stranger'],
  );
  const text = await (await fetch(`http://127.0.0.1:${daemon.port}/?columns=240`)).text();
  assert.match(text, /#1 +Please +stranger, who wrote it, may not write/);
});

test('an idle poll is one conditional request, whatever is open', async (t) => {
  const forge = await startForge(t);
  const proxy = await FaultyProxy.start(t, forge.forge.url);
  for (const title of ['one', 'two']) await forge.open(title);
  await forge.open('Please', { author: 'stranger' });
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(COMMITS), apiUrl: proxy.url });
  await daemon.logged('issue #2 state changed to tool-done');
  await daemon.until('nothing runs', async () => (await daemon.state()).counts.running === 0);
  const isUnchanged = ({ path, status }: { readonly path: string; readonly status: number }) =>
    path.includes('/issues?') && status === 304;
  const refused = () => proxy.seen.filter(({ path }) => path.includes('/issues/3/events')).length;
  await daemon.until('the second look at what was refused', () => refused() === 2);
  await daemon.until('a poll that changed nothing', () => proxy.seen.slice(-1).some(isUnchanged));
  const before = proxy.seen.length;
  await daemon.until('three polls', () => proxy.seen.length >= before + 3);
  for (const { from: _, ...seen } of proxy.seen.slice(before))
    assert.deepEqual(seen, {
      method: 'GET',
      path: '/repos/maintainer/project/issues?labels=tool-todo&sort=updated&direction=desc&page=1&state=open&per_page=100',
      etag: true,
      status: 304,
    });
});

test('a service that breaks in the middle of publishing gets its steps once it is back, and each only once', async (t) => {
  const forge = await startForge(t);
  const proxy = await FaultyProxy.start(t, forge.forge.url);
  const issue = await forge.open('one');
  proxy.choose = (method, path) =>
    method === 'POST' && path.endsWith('/pulls') && proxy.times('status502') === 0 ? 'status502' : undefined;
  const daemon = await Daemon.start(t, forge, {
    yaml: `${agentRunning(COMMITS)}\nagent: { max_retry_backoff_ms: 0 }`,
    apiUrl: proxy.url,
  });
  await daemon.logged('it answered 502');
  assert.equal(proxy.times('status502'), 1);
  assert.equal((await daemon.state()).running[0]?.phase, 'publishing');
  assert.match((await daemon.state()).running[0]?.last_error ?? '', /502/);
  await daemon.logged(/tried again in \d+ s/);
  await daemon.logged(`issue #${issue} state changed to tool-done`);
  assert.equal((await forge.pulls()).length, 1);
  assert.equal(daemon.log.match(/starting on issue/g)?.length, 1);
});

test('hooks of the file run around the agent, with their output kept', async (t) => {
  const forge = await startForge(t);
  await forge.open('one');
  const directory = tempDir(t);
  const mark = join(directory, 'marks');
  const hooks = `hooks:\n  after_create: |\n    git clone -q "$TOOL_CLONE_URL" .\n    echo "created $TOOL_ISSUE"\n  before_run: echo "before $TOOL_ATTEMPT"; git checkout -q -B "$TOOL_BRANCH" "origin/$TOOL_DEFAULT_BRANCH"\n  after_run: echo "after"; exit 1\n  before_remove: echo "removing $TOOL_ISSUE" >> ${mark}`;
  const daemon = await Daemon.start(t, forge, { yaml: `${agentRunning(COMMITS)}\n${hooks}` });
  await daemon.logged('state changed to tool-done');
  await daemon.until('before_remove ran', () => existsSync(mark));
  const { stdout } = await runTool(['logs', '1', daemon.workflow], { env: cleanEnv(daemon.home) });
  assert.equal(
    stdout,
    '=== attempt 1\n--- after_create\ncreated 1\n--- before_run\nbefore 1\n--- agent (command)\nworking on it\nfinished\n--- after_run\nafter\n',
  );
  assert.match(daemon.log, /\[hook\] {6}warn: issue #\d+: after_run ended with exit code 1: after/);
});
