// `tool serve init`: what it writes, and that the daemon can work with it.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { execaSync } from 'execa';
import fc from 'fast-check';
import { parseFrontMatter } from '../../src/base/config/front-matter.ts';
import { offeredRoot } from '../../src/cli/init-answers.ts';
import { CLI_CODES } from '../../src/cli/rules/cli-codes.ts';
import { workflowText } from '../../src/cli/workflow-text.ts';
import { parseWorkflow, readWorkflow } from '../../src/daemon/config/read-workflow.ts';
import { agentRunning } from '../support/agents.ts';
import { joined, lineLike } from '../support/codes.ts';
import { CLI, cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { commitFiles, fields, gitAs, startForge } from '../support/forge.ts';
import { type Cleanup, finallyDo, tempDir } from '../support/temp.ts';

/** A project's directory, with the remote that is given. */
async function project(t: Cleanup, remote?: string) {
  const directory = tempDir(t);
  const path = join(directory, 'WORKFLOW.md');
  await gitAs(directory, 'init', '--quiet');
  if (remote !== undefined) await gitAs(directory, 'remote', 'add', 'origin', remote);
  const env = cleanEnv(directory);
  return {
    directory,
    path,
    env,
    init: (...args: string[]) => runTool(['serve', 'init', ...args], { cwd: directory, env }),
    written: () => (existsSync(path) ? readFileSync(path, 'utf8') : null),
    /** What the daemon makes of the file. */
    read: () =>
      readWorkflow(path, {
        env,
        detectRemote: async () => ({ kind: 'none', says: 'has no Git remote to read it from' }),
      }),
  };
}

test('--yes takes the repository from the remote, however that is written, and the documented defaults', async (t) => {
  const remotes = [
    'https://github.com/acme/rocket.git',
    'ssh://git@github.com/acme/rocket.git',
    'git@github.com:acme/rocket.git',
  ];
  await Promise.all(
    remotes.map(async (remote) => {
      const { init, read, written, path } = await project(t, remote);
      const { code, stdout, stderr } = await init('--yes');
      assert.deepEqual({ remote, code, stderr }, { remote, code: 0, stderr: '' });
      const { tracker, labels, workspace, agent, server, tool } = await read();
      assert.deepEqual(
        {
          slug: tracker.slug,
          active: labels.active,
          root: workspace.root,
          max: agent.maxConcurrent,
          port: server.port,
          runtime: tool.runtime,
        },
        {
          slug: { owner: 'acme', repo: 'rocket' },
          active: ['tool-todo'],
          root: offeredRoot('github.com/acme/rocket').root,
          max: 1,
          port: 8888,
          runtime: 'claude',
        },
      );
      assert.doesNotMatch(written() ?? '', /jarvis/);
      assert.ok(stdout.startsWith(`Wrote ${path}.\n`), stdout);
      assert.match(
        stdout,
        /^Create the labels once, with gh \(cli\.github\.com\); without it, .* at https:\/\/github\.com\/acme\/rocket\/labels:\n {2}gh label create tool-todo --repo acme\/rocket /m,
      );
      assert.match(stdout, /\n {2}tool doctor\n {2}tool serve WORKFLOW\.md\n$/);
    }),
  );
});

test('flags are written as they are given; with .claude/ the agent is jarvis', async (t) => {
  const { init, read, written, directory, path } = await project(t, 'https://github.com/acme/rocket.git');
  mkdirSync(join(directory, '.claude'));
  const { code } = await init(
    ...['--repo', 'o/r.js', '--label', 'needs: agent', '--root', '~/work space', '--port', '0', '--max-agents', '3'],
  );
  assert.equal(code, 0, 'with every flag there is nothing to ask');
  const { tracker, labels, workspace, agent, server } = await read();
  assert.deepEqual(
    { slug: tracker.slug, active: labels.active, root: workspace.root, max: agent.maxConcurrent, port: server.port },
    {
      slug: { owner: 'o', repo: 'r.js' },
      active: ['needs: agent'],
      root: join(directory, 'work space'),
      max: 3,
      port: 0,
    },
  );
  assert.match(written() ?? '', /^ {2}agent: jarvis$/m);
  // What the README says to change when there is no agent at hand.
  writeFileSync(path, (written() ?? '').replace('\n  runtime: claude\n', '\n  runtime: patch\n'));
  assert.equal((await read()).tool.runtime, 'patch');
});

test('whatever the label is, the daemon reads it as it was given', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (label) => {
      const text = workflowText({ repo: 'o/r', apiUrl: null, label, root: '/tmp/x', port: 0, maxAgents: 1 }, false);
      const { labels } = parseWorkflow(text, '/WORKFLOW.md', {
        env: { HOME: '/' },
        remote: null,
      });
      assert.deepEqual(labels.active, [label]);
    }),
    { numRuns: 30 },
  );
});

test('the commands that create the labels can be pasted, whatever the label', async (t) => {
  const { init, directory } = await project(t);
  const label = `it's "odd" $HOME`;
  const { stdout } = await init('--yes', '--repo', 'o/r', '--label', label);
  const commands = stdout.split('\n').filter((line) => line.startsWith('  gh '));
  const script = `gh() { printf '%s|' "$@"; echo; }\n${commands.join('\n')}`;
  const said = execaSync({ cwd: directory, lines: true })`/bin/sh -c ${script}`.stdout;
  assert.match(said[0] ?? '', /^label\|create\|it's "odd" \$HOME\|--repo\|o\/r\|--color\|[0-9A-F]{6}\|--description\|/);
  assert.deepEqual(
    said.map((line) => line.split('|')[2]),
    [label, 'tool-done', 'tool-failed', 'tool-question'],
  );
});

test('bad answers, missing answers and an existing file are exit 2, and nothing is written', async (t) => {
  const { init, written, path } = await project(t);
  const cases: readonly [string[], RegExp][] = [
    [[], /no terminal to ask on\. Give --yes, or the missing --repo, --label, --root, --port, --max-agents/],
    [['--repo', 'o/r', '--port', '0'], /the missing --label, --root, --max-agents\. \(terminal_missing\)$/m],
    [
      ['--yes'],
      /--repo: expected <owner>\/<repo>, .*, got nothing, and this directory has no Git remote to read it from/,
    ],
    [
      ['--yes', '--repo', 'nonsense'],
      /--repo: expected <owner>\/<repo>, or <host>\/<owner>\/<repo>, got nonsense\. \(option_invalid\)$/m,
    ],
    [
      ['--yes', '--repo', 'o/r', '--label', ''],
      /^tool: --label: expected a label without commas .*, got nothing\. \(option_invalid\)$/m,
    ],
    [
      ['--yes', '--repo', 'o/r', '--label', 'a,b'],
      /^tool: --label: expected a label without commas .*, got a,b\. \(option_invalid\)$/m,
    ],
    [
      ['--yes', '--repo', 'o/r', '--label', 'a\nb'],
      /^tool: --label: expected a label without commas .*, got a b\. \(option_invalid\)$/m,
    ],
    [
      ['--yes', '--repo', 'o/r', '--root', ''],
      joined(
        /^tool: /,
        lineLike(CLI_CODES.option_invalid, { option: '--root', expected: 'a directory', got: 'nothing' }),
      ),
    ],
    [['--yes', '--repo', 'o/r', '--port', '99999'], /Expected a port from 0 to 65535, got 99999\./],
    [['--yes', '--repo', 'o/r', '--max-agents', '0'], /Expected a whole number of at least 1, got 0\./],
    [
      ['--yes', '--repo', 'o/r', '--max-agents', '1001'],
      /^tool: --max-agents: expected a whole number from 1 to 1000, got 1001\. \(option_invalid\)$/m,
    ],
    [
      ['--yes', '--repo', 'o/r', '--label', 'tool-done'],
      joined(
        /^tool: /,
        lineLike(CLI_CODES.init_cancelled, {
          why: /these .* a problem: .*tracker\.done_label: expected a label that is not an active one.*/,
        }),
      ),
    ],
    [
      ['--yes', '--repo', 'o/r', '--root', '$NOWHERE/x'],
      /workspace\.root: \$NOWHERE in \$NOWHERE\/x is not set\..* \(init_cancelled\)$/m,
    ],
  ];
  await Promise.all(
    cases.map(async ([args, words]) => {
      const { code, stdout, stderr } = await init(...args);
      assert.deepEqual({ args, code, stdout }, { args, code: 2, stdout: '' });
      assert.match(stderr, words);
    }),
  );
  assert.equal(written(), null);
  writeFileSync(path, 'mine');
  const refused = await init('--yes', '--repo', 'o/r');
  assert.deepEqual(refused, {
    code: 2,
    signal: null,
    stdout: '',
    stderr: `tool: ${path} exists. --force overwrites it. (workflow_file_exists)\n`,
  });
  assert.equal(written(), 'mine');
  assert.equal((await init('--yes', '--repo', 'o/r', '--force')).code, 0);
  assert.match(written() ?? '', /^---\n/);
});

const AGENT = `cat >/dev/null
if [ "$TOOL_ATTEMPT" = 1 ]; then
  echo "$TOOL_ISSUE" > mine.txt; git add mine.txt; git commit -qm "Begin"
  if [ "$TOOL_ISSUE" = 1 ]; then echo "in the middle" > README.md; fi
  echo up; while :; do sleep 0.02; done
fi
git add -A; git commit -qm "Finish" --allow-empty`;

test('the hooks it writes take issues to pull requests: first attempts, later ones, and a branch that is there already', async (t) => {
  const { init, written, path } = await project(t);
  await init('--yes', '--repo', 'o/r');
  const { hooks } = fields(parseFrontMatter(written() ?? '', path).data);
  const forge = await startForge(t);
  await gitAs(forge.work, 'checkout', '--quiet', '-b', 'tool/issue-3');
  await commitFiles(forge.work, { 'early.txt': 'x\n' }, 'By hand');
  await gitAs(forge.work, 'push', '--quiet', forge.bare, 'tool/issue-3');
  await gitAs(forge.work, 'checkout', '--quiet', 'main');
  for (const title of ['dirty', 'clean', 'begun by hand']) await forge.open(title);
  const daemon = await Daemon.create(t, forge, {
    yaml: `hooks: ${JSON.stringify(hooks)}\n${agentRunning(AGENT)}\nagent: { max_concurrent_agents: 3, max_attempts: 1 }`,
  });
  // A service has no name to commit with.
  writeFileSync(join(daemon.home, '.gitconfig'), '[user]\n\tuseConfigOnly = true\n');
  daemon.start();
  await daemon.until('all are at work', async () => {
    const { running } = await daemon.state();
    return running.filter(({ last_message }) => last_message === 'up').length === 3;
  });
  await daemon.stop();
  await commitFiles(forge.work, { 'theirs.txt': 'theirs\n', 'README.md': 'theirs\n' }, 'Theirs');
  await gitAs(forge.work, 'push', '--quiet', forge.bare, 'main');
  daemon.start();
  for (const issue of [1, 2, 3]) await daemon.logged(`issue #${issue} state changed to`);
  for (const issue of [1, 2, 3]) assert.deepEqual(await forge.labelsOf(issue), ['tool-done'], daemon.log);
  assert.equal((await forge.pulls()).length, 3);
  const read = (issue: number, file: string) => gitAs(forge.bare, 'show', `tool/issue-${issue}:${file}`);
  for (const issue of [1, 2, 3]) assert.equal(await read(issue, 'mine.txt'), `${issue}\n`);
  assert.equal(await read(1, 'README.md'), 'in the middle\n', 'changes in the way of a merge are kept');
  assert.equal(await read(2, 'theirs.txt'), 'theirs\n', 'main was merged');
  assert.match(await gitAs(forge.bare, 'log', '--first-parent', '--format=%s', 'tool/issue-3'), /\nBegin\nBy hand\n/);
});

/** A real terminal of 100 columns, driven by its keys. */
class Terminal {
  readonly #socket = `toolcrew-${randomBytes(6).toString('hex')}`;
  readonly #env: Record<string, string>;
  #session = 0;

  constructor(t: Cleanup, env: Record<string, string>) {
    this.#env = { ...env, TERM: 'xterm-256color', TMUX_TMPDIR: tempDir(t) };
    finallyDo(t, () => this.#tmux('kill-server'));
  }

  #tmux(...args: string[]): string {
    return execaSync({ env: this.#env, extendEnv: false, reject: false })`tmux -u -L ${this.#socket} ${args}`.stdout;
  }

  get #name(): string {
    return `session${this.#session}`;
  }

  /** Starts the command on a new screen. */
  run(cwd: string, ...args: string[]): void {
    const command = `"$0" "$@"; echo "exit $?"; exec cat`;
    const window = ['-x', '100', '-y', '40', '-c', cwd, '/bin/sh', '-c', command, process.execPath, CLI, ...args];
    this.#session += 1;
    this.#tmux('new-session', '-d', '-s', this.#name, ...window);
  }

  screen(): string {
    return this.#tmux('capture-pane', '-p', '-t', this.#name);
  }

  press(...keys: string[]): void {
    this.#tmux('send-keys', '-t', this.#name, ...keys);
  }

  async shows(text: string | RegExp, limitMs = 30_000): Promise<void> {
    const deadline = Date.now() + limitMs;
    for (;;) {
      const screen = this.screen();
      if (typeof text === 'string' ? screen.includes(text) : text.test(screen)) return;
      if (Date.now() > deadline) throw new Error(`waited in vain for: ${text}\n${screen}`);
      await delay(20);
    }
  }

  /** Answers a question: with what is offered, or with something else. */
  async answer(question: string, offered: string, other?: string): Promise<void> {
    await this.shows(new RegExp(`${question}\\s+│ +${offered}`));
    if (other !== undefined) this.press('C-u', other);
    this.press('Enter');
  }
}

test('on a terminal the five questions are asked with what is usual as their answer', async (t) => {
  if (execaSync({ reject: false })`tmux -V`.failed) return t.skip('there is no tmux');
  const { directory, env, path, read, written } = await project(t, 'git@github.com:acme/rocket.git');
  const terminal = new Terminal(t, env);

  terminal.run(directory, 'serve', 'init');
  await terminal.shows('acme/rocket');
  terminal.press('C-c');
  await terminal.shows('exit 2');
  assert.match(
    terminal.screen(),
    joined('tool: ', lineLike(CLI_CODES.init_cancelled, { why: 'you left the questions' })),
  );
  assert.equal(written(), null);

  terminal.run(directory, 'serve', 'init');
  await terminal.answer('Repository \\(<owner>/<repo>\\)', 'acme/rocket', 'nonsense');
  await terminal.shows('Expected <owner>/<repo>, or <host>/<owner>/<repo>.');
  await terminal.answer('Repository \\(<owner>/<repo>\\)', 'nonsense', 'acme/rocket2');
  await terminal.answer('Label that marks an issue as work to pick up', 'tool-todo', 'for agents');
  const offered = offeredRoot('github.com/acme/rocket2').root;
  await terminal.answer('Directory for workspaces', offered);
  await terminal.answer('Port of the status page \\(0: none\\)', '8888', '99999');
  await terminal.shows('Expected a whole number from 0 to 65535.');
  await terminal.answer('Port of the status page \\(0: none\\)', '99999', '0');
  await terminal.answer('Agents that may work at a time', '1', '2');
  await terminal.shows('exit 0');
  assert.match(terminal.screen(), /gh label create 'for agents' --repo acme\/rocket2/);
  const { tracker, labels, workspace, agent, server } = await read();
  assert.deepEqual(
    { slug: tracker.slug, active: labels.active, root: workspace.root, max: agent.maxConcurrent, port: server.port },
    {
      slug: { owner: 'acme', repo: 'rocket2' },
      active: ['for agents'],
      root: offered,
      max: 2,
      port: 0,
    },
  );

  const before = written();
  const flags = ['--repo', 'o/r', '--label', 'x', '--root', '/tmp/x', '--port', '1'];
  terminal.run(directory, 'serve', 'init', ...flags);
  await terminal.shows('WORKFLOW.md exists. Overwrite it?');
  terminal.press('Enter');
  await terminal.shows('exit 2');
  assert.match(terminal.screen(), /exists\. --force overwrites it\./);
  assert.equal(written(), before);
  terminal.run(directory, 'serve', 'init', ...flags);
  await terminal.shows('WORKFLOW.md exists. Overwrite it?');
  terminal.press('y');
  await terminal.answer('Agents that may work at a time', '1', '7');
  await terminal.shows('exit 0');
  assert.match(readFileSync(path, 'utf8'), /^ {2}max_concurrent_agents: 7$/m);
});
