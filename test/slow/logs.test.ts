// `tool logs`: what is kept of an issue's attempts.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { holdStateDir } from '../../src/daemon/journal/state-dir.ts';
import { CONFIG_CODES } from '../../src/daemon/rules/codes/config-codes.ts';
import { agentRunning } from '../support/agents.ts';
import { textLike } from '../support/codes.ts';
import { CLI, cleanEnv, Daemon, runTool, startTool } from '../support/daemon.ts';
import { gitAs, startForge } from '../support/forge.ts';
import { type Cleanup, finallyDo, tempDir } from '../support/temp.ts';

const AGENT =
  'cat >/dev/null; echo "first $TOOL_ATTEMPT"; while [ ! -e "go$TOOL_ATTEMPT" ]; do sleep 0.02; done; echo "second $TOOL_ATTEMPT"; exit 3';

test('the output of all attempts is printed, listed, and followed until the daemon ends', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('one');
  const daemon = await Daemon.start(t, forge, {
    yaml: `${agentRunning(AGENT)}\nagent: { max_concurrent_agents: 2, max_attempts: 3, max_retry_backoff_ms: 50 }`,
  });
  const env = cleanEnv(daemon.home);
  const logs = (...args: string[]) => runTool(['logs', ...args], { env, cwd: join(daemon.directory, 'project') });
  const workspace = join(daemon.root, `issue-${issue}`);
  await daemon.logged('(attempt 1)');
  const early = startTool(t, ['logs', '2', daemon.workflow, '--follow'], { env });
  const follow = startTool(t, ['logs', String(issue), daemon.workflow, '--follow'], { env });
  await follow.printed('first 1');
  assert.doesNotMatch(follow.stdout, /second/);
  writeFileSync(join(workspace, 'go1'), '');
  await follow.printed(/second 1\n.*=== attempt 2\n--- before_run\n--- agent \(command\)\nfirst 2\n/s);
  await forge.open('two');
  await early.printed('first 1');
  assert.equal(await daemon.stop(), 143);

  const { code, stdout, stderr } = await follow.ended;
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.match(
    stdout,
    /^=== attempt 1\n--- after_create\n--- before_run\n--- agent \(command\)\nfirst 1\nsecond 1\n.*=== attempt 2\n/s,
  );
  assert.deepEqual(await logs(String(issue)), { code: 0, signal: null, stdout, stderr: '' });
  assert.equal((await early.ended).code, 0, 'an issue can be followed before its first attempt');

  const directory = join(daemon.stateDir, 'issues', String(issue));
  const rows = [1, 2].map((attempt) => {
    const path = join(directory, `1-${attempt}.log`);
    return { issue, life: 1, attempt, path, bytes: statSync(path).size };
  });
  assert.deepEqual(JSON.parse((await logs(String(issue), '--json')).stdout), rows);
  assert.deepEqual(JSON.parse((await logs('99', '--json')).stdout), []);

  writeFileSync(join(directory, '2-3.log'), 'put back\n');
  assert.match((await logs(String(issue))).stdout, /\n=== attempt 3 \(life 2\)\nput back\n$/);
});

/** A workflow file and its state directory, without a daemon. */
function place(t: Cleanup) {
  const directory = tempDir(t);
  const stateDir = join(directory, 'state');
  const workflow = join(directory, 'WORKFLOW.md');
  writeFileSync(workflow, `---\ntracker: { repo: o/r }\nstate: { dir: ${stateDir} }\n---\n`);
  return { directory, stateDir, workflow, env: cleanEnv(directory) };
}

test('an issue of which nothing is kept, a number that is none, a directory without a workflow: exit 2', async (t) => {
  const { workflow, env } = place(t);
  const nothing =
    /^tool: .*#99 in .*state: .* last 200 issues, and of the last 400 that failed\. \(issue_output_missing\)$/m;
  const cases: readonly [string[], RegExp][] = [
    [['99', workflow], nothing],
    [['99', workflow, '--follow'], nothing],
    [
      ['x', workflow],
      /'x' is invalid for argument 'issue'\. Expected the number of an issue, or <owner>\/<repo>#<number>; got x\./,
    ],
    [['0', workflow], /Expected the number of an issue, .* got 0\./],
    [['1'], textLike(CONFIG_CODES.workflow_missing, { path: /.*WORKFLOW\.md/ })],
  ];
  const cwd = tempDir(t);
  await Promise.all(
    cases.map(async ([args, words]) => {
      const { code, stdout, stderr } = await runTool(['logs', ...args], { cwd, env });
      assert.deepEqual({ args, code, stdout }, { args, code: 2, stdout: '' });
      assert.match(stderr, words);
    }),
  );
});

test('a reader that has seen enough ends the command without a complaint', (t) => {
  const { stateDir, workflow, env } = place(t);
  const state = holdStateDir(stateDir, workflow);
  finallyDo(t, () => state.release());
  const directory = join(stateDir, 'issues', '7');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, '1-1.log'), 'a line\n'.repeat(100_000));
  for (const flag of ['', '--follow']) {
    const script = `"$0" "$1" logs 7 "$2" ${flag} | head -n 2`;
    const run = execaSync({ env, extendEnv: false, reject: false, stripFinalNewline: false });
    const { exitCode, stdout, stderr } = run`sh -c ${script} ${process.execPath} ${CLI} ${workflow}`;
    assert.deepEqual(
      { flag, exitCode, stdout, stderr },
      { flag, exitCode: 0, stdout: '=== attempt 1\na line\n', stderr: '' },
    );
  }
});

test('a workflow file that is broken or gone hides no outputs, if it can be told where they are', async (t) => {
  const { directory, stateDir, workflow, env } = place(t);
  const keep = (state: string) => {
    mkdirSync(join(state, 'issues', '7'), { recursive: true });
    writeFileSync(join(state, 'issues', '7', '1-1.log'), 'kept\n');
  };
  keep(stateDir);
  const kept = '=== attempt 1\nkept\n';
  const logs = (...args: string[]) => runTool(['logs', '7', ...args], { env, cwd: directory });
  const broken = [
    'tracker: { repo: o/r }\nstate: { dir: state }\nagnt: {}\npolling: { interval_ms: no }',
    'state: { dir: state }\na: 1\na: 2\nb: [',
  ];
  for (const yaml of broken) {
    writeFileSync(workflow, `---\n${yaml}\n---\n{{ x }}\n`);
    const { code, stdout, stderr } = await logs();
    assert.deepEqual({ code, stdout }, { code: 0, stdout: kept });
    assert.match(
      stderr,
      new RegExp(`^tool: warning: [^\\n]*WORKFLOW\\.md[^\\n]* ${stateDir} [^\\n]*\\(state_directory_guessed\\)\\n$`),
    );
  }
  // The daemon's own secrets are no business of whoever reads.
  writeFileSync(workflow, '---\ntracker: { repo: o/r }\nstate: { dir: state }\nserver: { token: $NOWHERE }\n---\n');
  assert.deepEqual(await logs(), { code: 0, signal: null, stdout: kept, stderr: '' });
  writeFileSync(workflow, '---\nstate: { dir: $NOWHERE/state }\n---\n');
  const unknown = await logs();
  assert.deepEqual({ code: unknown.code, stdout: unknown.stdout }, { code: 2, stdout: '' });
  assert.match(
    unknown.stderr,
    /^tool: .*\$NOWHERE in \$NOWHERE\/state is not set\. .* --state-dir <dir> names [^\n]* \(state_directory_unknown\)\n$/,
  );
  assert.deepEqual(await logs('--state-dir', 'state'), { code: 0, signal: null, stdout: kept, stderr: '' });

  rmSync(workflow);
  assert.match((await logs()).stderr, /WORKFLOW\.md: .* --state-dir <dir> names .*\(state_directory_unknown\)$/m);
  await gitAs(directory, 'init', '--quiet');
  await gitAs(directory, 'remote', 'add', 'origin', 'https://git.example.com/o/r.git');
  keep(join(directory, '.local', 'state', 'toolcrew', 'git.example.com', 'o', 'r'));
  const found = await logs();
  assert.equal(found.stdout, kept);
  assert.match(
    found.stderr,
    /^tool: warning: .*there is no such file.* reads from .*git\.example\.com\/o\/r .*\(state_directory_guessed\)$/m,
  );
});
