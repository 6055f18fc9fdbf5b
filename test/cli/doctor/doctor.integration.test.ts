// `tool doctor`: every row that can fail, with its mend.
// Over 400 lines: its cases share one machine of played programs.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { execa, execaSync } from 'execa';
import { BASE_CODES } from '../../../src/base/rules/base-codes.ts';
import { diagnose } from '../../../src/cli/doctor/doctor.ts';
import type { DoctorCheck } from '../../../src/cli/doctor/doctor-row.ts';
import { CLI_CODES } from '../../../src/cli/rules/cli-codes.ts';
import { DOCTOR_CODES } from '../../../src/cli/rules/doctor-codes.ts';
import { agentRunning } from '../../support/agents.ts';
import { END, joined, START, wordsOf } from '../../support/codes.ts';
import { CLI, cleanEnv, Daemon, runTool } from '../../support/daemon.ts';
import { DAEMON_TOKEN, gitAs, startForge } from '../../support/forge.ts';
import { freePort } from '../../support/free-port.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

const forge = await startForge({ after });
const host = new URL(forge.forge.url).host;

const GIT = execaSync`/bin/sh -c ${'command -v git'}`.stdout;
const CLAUDE = 'echo "2.1.177 (Claude Code)"';
const LOGGED_IN = `[ "$1 $2 $3 $4" = "auth status --hostname ${host}" ] && { echo "Logged in to ${host}" >&2; exit 0; }
[ "$1 $2 $3 $4" = "auth token --hostname ${host}" ] && { echo ${DAEMON_TOKEN}; exit 0; }
exit 9`;
const LOGGED_OUT = 'echo "You are not logged into any GitHub hosts." >&2; exit 1';

/** As one that gives namespaces: the program that is tried in them ends with this. */
const NAMESPACES = 'exit 7';

/** A machine with git and nothing else, and a project on it. */
function machine(t: Cleanup) {
  const directory = tempDir(t);
  const bin = join(directory, 'bin');
  const project = join(directory, 'project');
  const workflow = join(project, 'WORKFLOW.md');
  for (const path of [bin, project]) mkdirSync(path);
  const install = (name: string, script: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  install('git', `exec ${GIT} "$@"`);
  const env = (more: Readonly<Record<string, string>>) => ({ ...cleanEnv(directory), PATH: bin, ...more });
  const of = (checks: readonly DoctorCheck[]) => ({
    row: (name: string) => checks.find((check) => check.name === name),
    standing: Object.fromEntries(checks.map(({ name, status }) => [name, status])),
  });
  const run = (more: Readonly<Record<string, string>>, ...args: string[]) =>
    runTool(['doctor', ...args], { cwd: project, env: env(more) });
  return {
    directory,
    stateDir: join(directory, 'state'),
    /** Puts an outside program on the machine. */
    install,
    write(yaml: string, tracker = 'repo: maintainer/project') {
      const text = `---\ntracker: { ${tracker}, api_url: "${forge.forge.url}" }\n${yaml}\n---\n`;
      writeFileSync(workflow, text);
    },
    /** The command, as a user runs it. */
    run,
    async json(more: Readonly<Record<string, string>>) {
      const { code, stdout, stderr } = await run(more, '--json');
      const report = JSON.parse(stdout);
      assert.deepEqual(Object.keys(report), ['ok', 'checks']);
      assert.deepEqual({ code, stderr }, { code: report.ok ? 0 : 1, stderr: '' });
      const checks: DoctorCheck[] = report.checks;
      for (const check of checks) {
        const { code: of, ...others } = check;
        assert.deepEqual(Object.keys(others), ['name', 'status', 'says', 'mend']);
        assert.match(of ?? 'none', /^[a-z][a-z0-9_]*$/);
        assert.ok(of === undefined || check.status !== 'ok', check.name);
        assert.equal(check.mend === null, check.status === 'ok');
      }
      assert.equal(report.ok, !checks.some(({ status }) => status === 'fail'));
      return of(checks);
    },
    /** The same rows without a process of their own. */
    async rows(more: Readonly<Record<string, string>> = {}) {
      return of(await diagnose(workflow, env(more)));
    },
  };
}

test('on a good set-up every row is ok: exit 0', async (t) => {
  const { install, write, json, directory } = machine(t);
  install('gh', LOGGED_IN);
  install('claude', CLAUDE);
  install('unshare', NAMESPACES);
  const state = join(userInfo().homedir, '.toolcrew-never-made', 'state');
  const port = await freePort();
  write(`workspace: { root: ../workspaces }\nstate: { dir: ${state} }\nserver: { port: ${port} }`);
  const { row, standing } = await json({ ANTHROPIC_API_KEY: 'k' });
  assert.deepEqual(standing, {
    node: process.versions.node.startsWith('20.') ? 'warn' : 'ok',
    git: 'ok',
    workflow: 'ok',
    'git settings': 'ok',
    'Claude Code': 'ok',
    'Claude Code login': 'ok',
    isolation: 'ok',
    'hosting client': 'ok',
    token: 'ok',
    'API route': 'ok',
    'git route': 'ok',
    repository: 'ok',
    'branch prefix': 'ok',
    'workspace root': 'ok',
    clone: 'ok',
    state: 'ok',
    journal: 'ok',
    port: 'ok',
    daemon: 'ok',
  });
  assert.equal(row('Claude Code')?.says, '2.1.177');
  assert.equal(row('isolation')?.says, 'agents run in namespaces of their own');
  assert.equal(row('Claude Code login')?.says, 'given to agents as ANTHROPIC_API_KEY');
  assert.equal(row('hosting client')?.says, `Logged in to ${host}`);
  assert.equal(row('token')?.says, `from the login of gh for ${host}`);
  assert.equal(row('repository')?.says, 'maintainer/project can be read and pushed to');
  assert.equal(row('port')?.says, `${port} on 127.0.0.1 is free`);
  assert.match(row('daemon')?.says ?? '', /^not running; \d+\.\d+\.\d+ /);
  for (const path of [state, join(directory, 'workspaces')]) assert.equal(existsSync(path), false, 'nothing is made');
});

test('git settings that the daemon keeps and those that it ignores are named, without their values', async (t) => {
  const { write, rows, directory } = machine(t);
  write('server: { port: 0 }');
  const settings = [
    '[http]\nproxy = http://u:secret@p',
    '[push]\ngpgSign = true',
    '[url "http://t:secret@h/"]\ninsteadOf = x',
  ];
  writeFileSync(join(directory, '.gitconfig'), settings.join('\n'));
  const { row } = await rows({ GIT_CONFIG_SYSTEM: '/dev/null' });
  assert.equal(row('git settings')?.says, 'kept: http.proxy; ignored: push.gpgsign, url.*.insteadof');
});

test('a path with a colon is a row of its own, and without one there is none', async (t) => {
  const { write, rows, directory } = machine(t);
  write(`workspace: { root: ${join(directory, 'a:b')} }`);
  assert.equal((await rows()).row('paths')?.status, 'fail');
  write(`workspace: { root: ${join(directory, 'ab')} }`);
  assert.equal((await rows()).row('paths'), undefined);
});

test('on a bare machine every row says what is missing and what mends it: exit 1', async (t) => {
  const { write, json, run, directory } = machine(t);
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  finallyDo(t, () => other.close());
  const address = other.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const root = join(directory, 'mine');
  mkdirSync(root);
  writeFileSync(join(root, 'thesis.txt'), '');
  const file = join(directory, 'file');
  writeFileSync(file, '');
  write(`workspace: { root: ${root} }\nstate: { dir: ${file}/state }\nserver: { port: ${port} }`);
  const { row, standing } = await json({});
  const failing = Object.keys(standing).filter((name) => standing[name] === 'fail');
  const login = `install gh from cli.github.com, then gh auth login --hostname ${host}`;
  assert.deepEqual(
    failing.map((name) => [name, row(name)?.code]),
    [
      ['Claude Code', 'claude_not_runnable'],
      ['hosting client', 'hosting_client_unusable'],
      ['token', 'token_missing'],
      ['workspace root', 'root_place_refused'],
      ['state', 'state_place_refused'],
      ['port', 'port_unusable'],
    ],
  );
  for (const [name, mend] of [
    ['Claude Code', /^npm install -g @anthropic-ai\/claude-code$/],
    ['hosting client', joined(START, `${login}, or export GITHUB_TOKEN`, END)],
    ['token', joined(START, `${login}, or export GITHUB_TOKEN`, END)],
    ['workspace root', /^name an empty directory .*\bworkspace\.root$/],
    ['state', /^name another directory .*\bstate\.dir$/],
    ['port', /^tool serve --port <n>, or server\.port: 0$/],
  ] as const)
    assert.match(row(name)?.mend ?? '', mend, name);
  for (const [name, value] of [
    ['workspace root', `${root} `],
    ['state', `${file}/state `],
    ['port', `${port} on 127.0.0.1 `],
  ] as const)
    assert.ok(row(name)?.says.startsWith(value), row(name)?.says);
  const { code, stdout, stderr } = await run({});
  assert.deepEqual({ code, stderr }, { code: 1, stderr: '' });
  assert.match(stdout, /^✔ git {13}\d+\.\d+\.\d+$/m);
  assert.match(
    stdout,
    /^✖ Claude Code {5}claude .* \(claude_not_runnable\)\n {18}→ npm install -g @anthropic-ai\/claude-code$/m,
  );
  assert.match(stdout, /^✔ journal {9}none yet$/m);
});

test('without git the rows that need it are left out, with team mode and without: exit 1', async (t) => {
  const { write, run, directory } = machine(t);
  write('server: { port: 0 }');
  const rows = async () => {
    const { code, stdout, stderr } = await run({ PATH: join(directory, 'nothing') }, '--json');
    assert.deepEqual({ code, stderr }, { code: 1, stderr: '' });
    return new Map<string, DoctorCheck>(JSON.parse(stdout).checks.map((check: DoctorCheck) => [check.name, check]));
  };
  const daemon = await rows();
  assert.equal(daemon.get('git')?.mend, 'install git');
  assert.equal(daemon.get('git')?.code, 'git_not_on_path');
  assert.equal(daemon.get('workflow')?.status, 'ok');
  const settings = join(directory, 'project', '.tool', 'config');
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, 'workflow.yaml'), 'workflow:\n  team:\n    enabled: true\n');
  assert.equal((await rows()).get('team: host version')?.code, 'claude_not_runnable');
  writeFileSync(join(settings, 'workflow.yaml'), 'workflow:\n  team:\n    enabled: 7\n');
  assert.equal((await rows()).get('workflow.yaml')?.code, 'settings_invalid');
});

test('a client that is not logged in, a program that is too old and no login of the host are told apart', async (t) => {
  const { install, write, rows } = machine(t);
  install('gh', LOGGED_OUT);
  install('claude', 'echo "2.0.9 (Claude Code)"');
  write('state: { dir: ../state }\nserver: { port: 0 }');
  const { row } = await rows();
  assert.deepEqual(row('hosting client'), {
    name: 'hosting client',
    status: 'fail',
    says: 'You are not logged into any GitHub hosts.',
    mend: `gh auth login --hostname ${host}, or export GITHUB_TOKEN`,
    code: 'hosting_client_unusable',
  });
  assert.deepEqual(row('Claude Code'), {
    name: 'Claude Code',
    status: 'fail',
    says: wordsOf(DOCTOR_CODES.program_too_old, { version: '2.0.9', required: '2.1.32' }),
    mend: 'npm install -g @anthropic-ai/claude-code',
    code: 'program_too_old',
  });
  assert.equal(row('Claude Code login')?.status, 'fail');
  assert.match(row('Claude Code login')?.mend ?? '', /export CLAUDE_CODE_OAUTH_TOKEN; or export ANTHROPIC_API_KEY/);
  const variable = await rows({ GITHUB_TOKEN: DAEMON_TOKEN });
  assert.deepEqual(variable.row('hosting client'), {
    name: 'hosting client',
    status: 'warn',
    says: wordsOf(DOCTOR_CODES.hosting_client_unusable, {
      said: 'You are not logged into any GitHub hosts.',
      source: '$GITHUB_TOKEN',
    }),
    mend: `gh auth login --hostname ${host}, or leave it so`,
    code: 'hosting_client_unusable',
  });
  assert.equal(variable.row('token')?.says, 'from $GITHUB_TOKEN');
});

test('a token alone is enough, with no client and with one that is not logged in: exit 0', async (t) => {
  const { install, write, json } = machine(t);
  write('tool: { runtime: patch }\nstate: { dir: ../state }\nserver: { port: 0 }');
  for (const says of ['the hosting client gh is not installed', 'You are not logged into any GitHub hosts.']) {
    const { row, standing } = await json({ GITHUB_TOKEN: DAEMON_TOKEN });
    assert.deepEqual(
      [row('hosting client')?.status, row('hosting client')?.says],
      ['warn', wordsOf(DOCTOR_CODES.hosting_client_unusable, { said: says, source: '$GITHUB_TOKEN' })],
    );
    assert.deepEqual([standing.token, standing.repository], ['ok', 'ok']);
    assert.deepEqual(
      Object.entries(standing).filter(([, one]) => one === 'fail'),
      [],
    );
    install('gh', LOGGED_OUT);
  }
});

test('a branch that makes those of issues impossible is named, with both ways out', async (t) => {
  const { write, rows, install } = machine(t);
  install('gh', LOGGED_IN);
  await gitAs(forge.bare, 'branch', 'tool', 'main');
  finallyDo(t, async () => {
    await gitAs(forge.bare, 'branch', '-D', 'tool');
  });
  write('');
  const taken = (await rows()).row('branch prefix');
  assert.equal(taken?.status, 'fail');
  assert.equal(taken?.says, wordsOf(DOCTOR_CODES.branch_prefix_blocked, { taken: 'tool', branch: 'tool/issue-1' }));
  assert.match(taken?.mend ?? '', /rename the branch tool .* workspace\.branch_prefix/);
  write('workspace: { branch_prefix: bot/ }');
  assert.deepEqual((await rows()).row('branch prefix')?.status, 'ok');
});

test('what becomes of drafts is said where they are asked for, and nowhere else', async (t) => {
  const { write, rows, install } = machine(t);
  install('gh', LOGGED_IN);
  write('', 'repo: maintainer/project, draft: true');
  assert.match((await rows()).row('drafts')?.says ?? '', /takes none.*a plain one is opened/);
  write('');
  assert.equal((await rows()).row('drafts'), undefined);
});

test('a token that may not push, that is wrong, and a repository that is not there', async (t) => {
  const { install, write, rows } = machine(t);
  install('gh', LOGGED_IN);
  write('tool: { runtime: patch }\nstate: { dir: ../state }\nserver: { port: 0 }');
  const [stranger, wrong] = await Promise.all([
    rows({ GITHUB_TOKEN: 'token-of-a-stranger' }),
    rows({ GITHUB_TOKEN: 'nonsense' }),
  ]);
  assert.deepEqual(stranger.row('repository'), {
    name: 'repository',
    status: 'fail',
    says: wordsOf(CLI_CODES.push_not_allowed, { repository: 'maintainer/project' }),
    mend: 'give it write access to contents, issues and pull requests',
    code: 'push_not_allowed',
  });
  assert.match(wrong.row('repository')?.says ?? '', /^maintainer\/project: .*401/);
  assert.equal(stranger.row('runtime')?.says, 'patch: no model is needed by it');
  write('tool: { runtime: patch }\nstate: { dir: ../state }\nserver: { port: 0 }', 'repo: maintainer/nowhere');
  const nowhere = (await rows()).row('repository');
  assert.match(nowhere?.says ?? '', /^maintainer\/nowhere: .*404/);
  assert.match(nowhere?.mend ?? '', /what the token may do/);
  const away = (await rows({ GITHUB_TOKEN: DAEMON_TOKEN, HTTP_PROXY: 'http://127.0.0.1:1' })).row('repository');
  assert.match(away?.says ?? '', /ECONNREFUSED/);
  assert.match(away?.mend ?? '', /^mend the route to the service first; the row "API route"/);
});

test('what a boot clears and lines torn by a crash are warnings; a newer journal is a failure', async (t) => {
  const { install, write, rows, stateDir } = machine(t);
  install('gh', LOGGED_IN);
  const journal = join(stateDir, 'journal.jsonl');
  const yaml = 'tool: { runtime: patch }\nserver: { host: 192.0.2.1, port: 8080, token: secret }';
  write(`${yaml}\nstate: { dir: /tmp/toolcrew-never-made }`);
  const cleared = await rows();
  assert.deepEqual(cleared.row('state'), {
    name: 'state',
    status: 'warn',
    says: wordsOf(CLI_CODES.state_not_durable, { path: '/tmp/toolcrew-never-made', cleared: '/tmp' }),
    mend: 'name a directory outside /tmp in state.dir',
    code: 'state_not_durable',
  });
  assert.match(cleared.row('port')?.says ?? '', /^8080 on 192\.0\.2\.1 .*EADDRNOTAVAIL/, 'not another program’s doing');
  mkdirSync(stateDir);
  write(`${yaml}\nstate: { dir: ${stateDir} }`);
  writeFileSync(journal, '\n{"v":1,"id":"x\n\n{"v":1,"ty\n');
  const torn = (await rows()).row('journal');
  assert.deepEqual(
    [torn?.status, torn?.says],
    ['warn', wordsOf(DOCTOR_CODES.journal_lines_torn, { lines: '2 lines were' })],
  );
  writeFileSync(journal, '\n{"v":1,"id":"x.1","at":1,"ty');
  const cut = (await rows()).row('journal');
  assert.deepEqual(
    [cut?.status, cut?.says],
    ['warn', wordsOf(DOCTOR_CODES.journal_lines_torn, { lines: 'a line was' })],
  );
  writeFileSync(journal, '\n{"v":2,"id":"x.1","at":1,"type":"levitated"}\n');
  assert.deepEqual((await rows()).row('journal'), {
    name: 'journal',
    status: 'fail',
    says: wordsOf(BASE_CODES.record_version_newer, { path: journal, version: 2, supported: 1 }),
    mend: 'install the newest toolcrew, in its clone: git pull && npm ci && npm pack && npm install -g ./toolcrew-*.tgz',
    code: 'record_version_newer',
  });
});

test('a workflow file that is missing, invalid, or a directory; a token variable that is not set', async (t) => {
  const { install, write, run, rows, directory } = machine(t);
  install('gh', LOGGED_IN);
  const missing = await rows();
  assert.equal(missing.row('workflow')?.status, 'fail');
  assert.equal(missing.row('workflow')?.code, 'workflow_missing');
  assert.match(missing.row('workflow')?.says ?? '', /WORKFLOW\.md: /);
  assert.equal(missing.row('workflow')?.mend, 'tool serve init');
  write('agent: { max_atempts: 2 }');
  const invalid = await rows();
  assert.equal(invalid.row('workflow')?.code, 'settings_invalid');
  assert.match(invalid.row('workflow')?.says ?? '', /agent\.max_atempts: .*agent\.max_attempts/);
  assert.equal(invalid.row('workflow')?.mend, 'mend the keys named here');
  assert.match(
    (await run({}, '.')).stdout,
    /✖ workflow {2}.*: expected a file, got a directory \(workflow_unreadable\)\n +→ name the file: tool doctor <file>\n/,
  );
  symlinkSync('loop.md', join(directory, 'loop.md'));
  assert.match(
    (await run({}, join(directory, 'loop.md'))).stdout,
    /✖ workflow {2}.*loop\.md .*: ELOOP.* \(workflow_unreadable\)\n +→ make it a file that you may read: chmod u\+r .*loop\.md\n/,
  );
  write('tool: { runtime: patch }\nserver: { port: 0 }', 'repo: o/r, token: $MINE');
  const unset = await rows({ GITHUB_TOKEN: DAEMON_TOKEN });
  assert.equal(unset.row('hosting client')?.status, 'ok');
  assert.deepEqual(unset.row('token'), {
    name: 'token',
    status: 'fail',
    says: 'tracker.token: $MINE is not set.',
    mend: 'export MINE=…',
    code: 'variable_unset',
  });
  install('gh', LOGGED_OUT);
  const client = (await rows()).row('hosting client');
  assert.equal(client?.status, 'warn', 'its login would mend nothing');
  assert.equal(client?.mend, `gh auth login --hostname ${host}, or leave it so`);
});

test('whether agents can be isolated, and why not, without a trace in the state directory', async (t) => {
  const { install, write, json, stateDir } = machine(t);
  install('gh', LOGGED_IN);
  const isolation = async (mode: string) => {
    write(`tool: { runtime: patch, isolation: ${mode} }\nstate: { dir: ${stateDir} }\nserver: { port: 0 }`);
    const row = (await json({})).row('isolation');
    return `${row?.status}: ${row?.says} → ${row?.mend}`;
  };
  install('unshare', 'echo "unshare: unshare failed: Operation not permitted" >&2; exit 1');
  assert.match(
    await isolation('auto'),
    /^warn: .*: unshare: unshare failed: Operation not permitted\. .* → allow user namespaces /,
  );
  assert.match(
    await isolation('required'),
    /^fail: tool\.isolation: expected namespaces .* Operation not permitted\. → allow user namespaces /,
  );
  assert.match(
    await isolation('off'),
    /^warn: .*: tool\.isolation is off\. .* may outlive its attempt\. → tool\.isolation: auto$/,
  );
  assert.equal(existsSync(stateDir), false);
});

test('number and size of saved work are shown', async (t) => {
  const { install, write, rows, stateDir } = machine(t);
  install('gh', LOGGED_IN);
  write(
    `tool: { runtime: patch }\nstate: { dir: ${stateDir} }\nserver: { port: 0 }\nworkspace: { saved_keep_days: 7 }`,
  );
  assert.equal((await rows()).row('saved work'), undefined);
  const mirror = join(stateDir, 'repo.git');
  mkdirSync(mirror, { recursive: true });
  await gitAs(mirror, 'init', '--quiet', '--bare');
  const tree = (await gitAs(mirror, 'mktree')).trim();
  const commit = (await gitAs(mirror, 'commit-tree', tree, '-m', 'saved')).trim();
  await gitAs(mirror, 'update-ref', 'refs/toolcrew/saved/issue-1-1-1', commit);
  const row = (await rows()).row('saved work');
  assert.equal(row?.status, 'ok');
  assert.match(row?.says ?? '', /^1 ref, \d+\.\d MB, each kept for 7 days/);
});

test('a damaged copy that was replaced is pointed out', async (t) => {
  const { install, write, rows, stateDir } = machine(t);
  install('gh', LOGGED_IN);
  write(`tool: { runtime: patch }\nstate: { dir: ${stateDir} }\nserver: { port: 0 }`);
  assert.equal((await rows()).row('repository copy'), undefined);
  const damaged = join(stateDir, 'repo.git.damaged');
  mkdirSync(damaged, { recursive: true });
  const row = (await rows()).row('repository copy');
  assert.equal(row?.status, 'warn');
  assert.deepEqual([row?.code, row?.says.startsWith(`${damaged} `)], ['clone_copy_damaged', true]);
  assert.ok(row?.mend?.startsWith(`git -C ${damaged} for-each-ref refs/toolcrew`));
});

test('how far back the copy of the repository goes is told, and that its clone broke off', async (t) => {
  const { install, write, rows, stateDir } = machine(t);
  install('gh', LOGGED_IN);
  const says = async (workspace: string) => {
    write(`tool: { runtime: patch }\nstate: { dir: ${stateDir} }\nserver: { port: 0 }\nworkspace: { ${workspace} }`);
    return (await rows()).row('clone')?.says ?? '';
  };
  assert.match(await says('clone_depth: 5'), /^5 commits of each branch.*none is made yet/);
  const copy = join(stateDir, 'repo.git');
  mkdirSync(`${copy}.new`, { recursive: true });
  writeFileSync(join(`${copy}.new`, 'toolcrew-steps'), '');
  assert.match(await says(''), /^all of its past; it broke off.*repo\.git\.new$/);
  rmSync(`${copy}.new`, { recursive: true });
  const origin = join(stateDir, 'origin');
  execaSync`git init --quiet --initial-branch=main ${origin}`;
  const commit = ['-c', 'user.name=m', '-c', 'user.email=m@localhost', 'commit', '--quiet', '--allow-empty'];
  for (const message of ['1', '2', '3']) execaSync`git -C ${origin} ${commit} -m ${message}`;
  execaSync`git clone --quiet --bare ${origin} ${copy}`;
  assert.equal(await says(''), 'all of its past');
  assert.match(await says('clone_depth: 5'), /^all of its past: it was whole/);
  rmSync(copy, { recursive: true });
  execaSync`git clone --quiet --bare --depth=2 ${pathToFileURL(origin).href} ${copy}`;
  assert.equal(await says('clone_depth: 2'), '2 commits of each branch, more as needed');
  assert.match(await says('clone_depth: 5'), /^5 commits.* brings 3 /);
  assert.match(await says(''), /; the next fetch [^;]+$/);
});

test('a state directory that may not be read or written to is said once, by its name; its journal is not "none yet"', async (t) => {
  const { install, write, directory, stateDir } = machine(t);
  // The superuser may read everything, unless that is taken from him.
  const isRoot = process.getuid?.() === 0;
  const limited = [
    'setpriv',
    '--bounding-set=-dac_override,-dac_read_search',
    '--inh-caps=-dac_override,-dac_read_search',
  ];
  if (isRoot && execaSync({ reject: false })`setpriv --version`.failed) return t.skip('there is no setpriv');
  install('gh', LOGGED_IN);
  write(`tool: { runtime: patch }\nstate: { dir: ${stateDir} }\nserver: { port: 0 }`);
  mkdirSync(stateDir);
  writeFileSync(join(stateDir, 'journal.jsonl'), '');
  chmodSync(stateDir, 0o000);
  const [file = '', ...args] = [...(isRoot ? limited : []), process.execPath, CLI, 'doctor'];
  const env = { ...cleanEnv(directory), GITHUB_TOKEN: DAEMON_TOKEN };
  // It fails, and says so on standard output; the forge is in this process, which must not wait idly.
  const options = { cwd: join(directory, 'project'), env, extendEnv: false, reject: false } as const;
  const { stdout } = await execa(file, args, options);
  chmodSync(stateDir, 0o700);
  assert.match(stdout, new RegExp(`^✖ state +${stateDir} .*\\(state_place_refused\\)\n`, 'm'));
  assert.match(
    stdout,
    new RegExp(`^✖ journal +${stateDir}/journal\\.jsonl .*: EACCES.* \\(journal_unreadable\\)$`, 'm'),
  );
});

test('a daemon that runs is found, with its version and port', async (t) => {
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning('exit 0') });
  await daemon.logged('watching');
  const env = { ...cleanEnv(daemon.home), GITHUB_TOKEN: DAEMON_TOKEN };
  const { stdout } = await runTool(['doctor', daemon.workflow], { env });
  assert.match(stdout, new RegExp(`^✔ state +.* is held by the daemon with process ${daemon.pid}, since `, 'm'));
  assert.match(stdout, new RegExp(`^✔ port +${daemon.port} on 127\\.0\\.0\\.1 is held by the daemon that runs$`, 'm'));
  assert.match(stdout, new RegExp(`^✔ daemon +\\d+\\.\\d+\\.\\d+ runs at http://localhost:${daemon.port}$`, 'm'));
});
