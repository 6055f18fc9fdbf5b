// Every command that the README and the pages show, typed as they show it, page by page, in a project made for that.
// Over 400 lines: the story of each page, and what is typed elsewhere, stand together.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execa, execaSync } from 'execa';
import { SCRIPT_VARIABLE, type TeammateScript } from '../../src/cli/agents/agent-teammate.ts';
import { CLI, cleanEnv } from '../support/daemon.ts';
import { FLEET_KEY, RedisServer } from '../support/fleet.ts';
import { DAEMON_TOKEN, startForge } from '../support/forge.ts';
import { freePort } from '../support/free-port.ts';
import { type Tree, writeTree } from '../support/installed.ts';
import { commandsOf, fencesOf, PAGES, pageText, type Shown } from '../support/pages.ts';
import { ANALYST, ARCHITECT, RESEARCHER } from '../support/plan-results.ts';
import { Pty } from '../support/pty.ts';
import { type Cleanup, finallyDo, tempDir } from '../support/temp.ts';

/** What is shown and not run here: why not, and what runs it instead. A row that no page shows any more fails. */
const ELSEWHERE: readonly { readonly command: RegExp; readonly why: string; readonly runs: string }[] = [
  { command: /^npm ci && npm run demo$/, why: 'installs this checkout anew, from the registry', runs: '.ci/run' },
  { command: /^npm ci && npm test$/, why: 'is the suite itself', runs: '.ci/run' },
  {
    command: /^npm ci && npm pack && npm install -g \.\/toolcrew-\*\.tgz$/,
    why: 'installs this checkout anew, and for the whole machine',
    runs: 'test/slow/pack.test.ts',
  },
  {
    command: /^tool worker --slots 4 --labels gpu,big$/,
    why: 'takes attempts until a signal comes',
    runs: 'test/slow/fleet-starts.test.ts',
  },
  {
    command: /^npx -p \.\/toolcrew-\*\.tgz -p emulate@[\d.]+ tool demo$/,
    why: 'fetches a package from the registry',
    runs: 'test/slow/pack.test.ts',
  },
  { command: /^\/tool:1-plan /, why: 'typed into Claude Code', runs: 'test/hosts/phases.test.ts' },
  { command: /^\/clear$/, why: "a command of Claude Code's own", runs: 'test/hosts/phases.test.ts' },
  { command: /^\/tool:2-run /, why: 'typed into Claude Code', runs: 'test/hosts/phases.test.ts' },
  { command: /^\/tool:3-sync /, why: 'typed into Claude Code', runs: 'test/hosts/phases.test.ts' },
];

type Ran = { readonly code: number | undefined; readonly text: string };

/** Where a page's commands are typed: a project, and a home of its own. */
class Shell {
  readonly t: Cleanup;
  readonly home: string;
  readonly cwd: string;
  readonly bin: string;
  env: Record<string, string>;
  /** What is typed in place of what the page has; what it stands for is somebody's own. */
  readonly typed = new Map<string, string>();
  /** Done before a command, or in its place. */
  readonly before = new Map<string, () => unknown>();
  readonly instead = new Map<string, (shown: Shown) => Promise<Ran>>();
  /** What differs from one time to the next. */
  steady: (text: string) => string = (text) => text;

  constructor(t: Cleanup, files: Tree) {
    this.t = t;
    const place = tempDir(t);
    this.home = join(place, 'home');
    this.cwd = join(place, 'project');
    this.bin = join(place, 'bin');
    for (const path of [this.home, this.cwd, this.bin]) mkdirSync(path);
    this.program('tool', `exec '${process.execPath}' '${CLI}' "$@"`);
    const PERSON = { GIT_AUTHOR_NAME: 'p', GIT_AUTHOR_EMAIL: 'p@localhost' };
    this.env = {
      ...cleanEnv(this.home, { TMPDIR: place, LANG: 'C.UTF-8' }),
      PATH: `${this.bin}:${process.env.PATH ?? ''}`,
      ...PERSON,
      GIT_COMMITTER_NAME: 'p',
      GIT_COMMITTER_EMAIL: 'p@localhost',
    };
    writeTree(this.cwd, files);
    this.git('init', '-q', '-b', 'main', '.');
    this.git('add', '-A');
    this.git('commit', '-qm', 'Begin');
  }

  program(name: string, script: string): void {
    writeFileSync(join(this.bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(this.bin, name), 0o755);
  }

  git(...args: readonly string[]): string {
    return execaSync({ cwd: this.cwd, env: this.env, extendEnv: false })`git ${args}`.stdout;
  }

  words(command: string): string {
    return [...this.typed].reduce((text, [from, to]) => text.replaceAll(from, to), command);
  }

  start(command: string) {
    const child = execa({
      ...{ cwd: this.cwd, env: this.env, extendEnv: false, stdin: 'ignore', all: true },
      ...{ reject: false, stripFinalNewline: false, forceKillAfterDelay: false },
    })`sh -c ${command}`;
    let text = '';
    child.all.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
    return { child, said: () => text };
  }

  async run(command: string): Promise<Ran> {
    const { exitCode: code, all: text } = await this.start(command).child;
    return { code, text };
  }

  /** Somebody at a terminal, who takes what is offered. */
  async attend(command: string, questions: readonly string[]): Promise<Ran> {
    const program =
      "process.exitCode = require('node:child_process').spawnSync('sh', ['-c', process.argv[1]], { stdio: 'inherit' }).status";
    const pty = Pty.start(this.t, ['-e', program, command], { columns: 160, rows: 50 }, this.env, this.cwd);
    for (const question of questions) {
      await pty.until(() => pty.output.includes(question));
      pty.type('\r');
    }
    return { code: await pty.ended, text: pty.output };
  }

  /** Whether the lines stand in what was printed, in their order. */
  has(text: string, prints: string): boolean {
    let rest = this.steady(text).split('\n');
    return prints.split('\n').every((line) => {
      const at = rest.indexOf(this.steady(line));
      rest = rest.slice(at + 1);
      return line === '' || at !== -1;
    });
  }
}

/** Types all that a page shows; gives what was typed. */
async function type(shell: Shell, page: string): Promise<readonly string[]> {
  const typed: string[] = [];
  for (const shown of commandsOf(page)) {
    const { command, line, prints } = shown;
    if (ELSEWHERE.some((row) => row.command.test(command))) continue;
    await shell.before.get(command)?.();
    const { code, text } = await (shell.instead.get(command)?.(shown) ?? shell.run(shell.words(command)));
    assert.equal(code, 0, `${page}:${line}: ${command}\n${text}`);
    assert.ok(shell.has(text, prints), `${page}:${line}: ${command}\nexpected\n${prints}\ngot\n${text}`);
    typed.push(command);
  }
  return typed;
}

const HOST = 'echo "2.1.177 (Claude Code)"';
const CONFIG = { '.tool/config/workflow.yaml': 'workflow:\n  team:\n    enabled: true\n' };

const PATCH = `Say it otherwise.

\`\`\`diff
--- a/src/greet.js
+++ b/src/greet.js
@@ -1 +1 @@
-export const greet = (name) => 'Hello, ' + name;
+export const greet = (name) => 'Good morning, ' + name;
\`\`\`
`;

/** Ends the last line of a story that goes on beside others. */
async function ended(child: ReturnType<Shell['start']>['child']): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'close');
}

async function readme(t: Cleanup): Promise<Shell> {
  const forge = await startForge(t);
  const shell = new Shell(t, { 'src/greet.js': "export const greet = (name) => 'Hello, ' + name;\n" });
  shell.git('remote', 'add', 'origin', `${forge.forge.url}/maintainer/project.git`);
  shell.env = { ...shell.env, GITHUB_TOKEN: DAEMON_TOKEN };
  const port = await freePort();
  const root = join(shell.home, 'workspaces');
  shell.typed.set('localhost:8888', `localhost:${port}`);
  shell.program('claude', HOST);
  shell.steady = (text) =>
    text
      .replaceAll(root, '/tmp/tool-harness-test')
      .replaceAll(/ with \w+$/gm, ' with it')
      .replaceAll(/pull request #\d+/g, 'pull request #N');
  shell.instead.set('tool serve init', async ({ command }) => {
    const questions = ['Repository (', 'Label that', 'Directory for', 'Port of', 'Agents that may'];
    const ran = await shell.attend(command, questions);
    // No agent at hand, as the page says; and what is at home elsewhere in a test.
    const path = join(shell.cwd, 'WORKFLOW.md');
    const changed = readFileSync(path, 'utf8')
      .replace('runtime: claude', 'runtime: patch')
      .replace(/port: 8888/, `port: ${port}`)
      .replace(/root: \S+/, `root: ${root}`)
      .replace(/api_url: \S+/, `api_url: ${forge.forge.url}`)
      .replace(/interval_ms: \d+/, 'interval_ms: 300');
    assert.match(changed, /runtime: patch/);
    writeFileSync(path, changed);
    return ran;
  });
  let daemon: ReturnType<Shell['start']>['child'] | undefined;
  shell.instead.set('tool serve WORKFLOW.md', async ({ command }) => {
    await forge.open('Fix the greeting', { body: PATCH });
    const { child, said } = shell.start(`exec ${command}`);
    daemon = child;
    finallyDo(t, () => ended(child));
    await new Promise<void>((resolve, reject) => {
      const look = () => {
        if (/state changed to tool-(done|failed)/.test(said())) resolve();
      };
      child.stderr.on('data', look);
      child.once('close', (code) => reject(new Error(`it ended with ${code}:\n${said()}`)));
    });
    return { code: 0, text: said() };
  });
  shell.before.set('tool init --dry-run', () => daemon !== undefined && ended(daemon));
  shell.before.set('tool team board', async () => {
    shell.env = { ...shell.env, TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' };
    const { code, text } = await shell.run('tool team create tool-run-spec-address-001');
    assert.equal(code, 0, text);
  });
  return shell;
}

const VERDICT = { trust5Score: 5, securityIssues: 0, performanceScore: 'A', recommendation: 'Merge it.' };

const done = (subject: string, result: string) => ({ subject, steps: [], result });
const writes = (subject: string, path: string, text: string) => ({ subject, steps: [{ write: { path, text } }] });

const judges = {
  call: {
    tool: 'SendMessage',
    input: { recipient: 'team-lead', type: 'quality_gate_passed', content: VERDICT },
  },
};

/** Plans and builds logging out; what a model would do. */
const LOGS_OUT: TeammateScript = {
  researcher: { tasks: [done('Explore', RESEARCHER)] },
  analyst: { tasks: [done('Write the requirements', ANALYST)] },
  architect: { tasks: [done('Design the solution', ARCHITECT)] },
  'backend-dev': {
    tasks: [
      writes(
        'End the session',
        'src/api/logout.js',
        "import { sessions } from './session.js';\n\nexport const logOut = (id) => sessions.delete(id);\n",
      ),
    ],
  },
  'frontend-dev': {
    tasks: [
      writes(
        'Show the button',
        'src/pages/account.js',
        'export const account = () => "<h1>Account</h1><button>Log out</button>";\n',
      ),
    ],
  },
  quality: { tasks: [{ subject: 'Verify the quality', steps: [judges] }] },
  tester: {
    tasks: [
      writes(
        'Test the acceptance',
        'tests/logout.test.js',
        `// SPEC-LOG-OUT-ACCOUNT-001
import assert from 'node:assert/strict';
import test from 'node:test';
import { logOut } from '../src/api/logout.js';
import { sessions } from '../src/api/session.js';
import { account } from '../src/pages/account.js';

test('R1, A1: the session is gone', () => {
  sessions.set('1', {});
  logOut('1');
  assert.equal(sessions.size, 0);
});

test('R2, A2: there is a button', () => {
  assert.match(account(), /<button>Log out/);
});
`,
      ),
    ],
  },
};

function phases(t: Cleanup): Shell {
  const shell = new Shell(t, {
    'package.json': `${JSON.stringify({ name: 'shop', private: true, type: 'module', scripts: { test: 'node --test' } })}\n`,
    '.gitignore': '.tool/teams/\n.tool/state/\n.tool/cache/\n.tool/worktrees/\n',
    'src/api/session.js': 'export const sessions = new Map();\n',
    'src/pages/account.js': 'export const account = () => "<h1>Account</h1>";\n',
    'tests/account.test.js':
      "import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { account } from '../src/pages/account.js';\n\ntest('it is the account', () => assert.match(account(), /Account/));\n",
    '.tool/config/workflow.yaml': 'workflow:\n  team:\n    enabled: true\n',
  });
  const script = join(shell.home, 'script.json');
  writeFileSync(script, JSON.stringify(LOGS_OUT));
  shell.program('my-agent', `${SCRIPT_VARIABLE}='${script}' exec tool agent teammate`);
  shell.env = { ...shell.env, TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' };
  return shell;
}

function recovery(t: Cleanup): Shell {
  const shell = new Shell(t, { 'a.txt': 'a\n' });
  const stateDir = join(shell.home, 'state');
  shell.git('clone', '-q', '--bare', '.', join(stateDir, 'repo.git'));
  shell.git('-C', join(stateDir, 'repo.git'), 'update-ref', 'refs/toolcrew/saved/issue-1-1-1', 'HEAD');
  shell.typed.set('<state.dir>', stateDir);
  return shell;
}

function selection(t: Cleanup): Shell {
  const code = ['api/orders', 'api/orders.test', 'api/users', 'models/order', 'models/user'].map((one) => `${one}.ts`);
  const screens = ['OrderList', 'OrderList.test', 'UserCard'].map((one) => `components/${one}.tsx`);
  const files = [...code, ...screens, 'pages/Shop.tsx'].map((path) => [`src/${path}`, '']);
  const shell = new Shell(t, { ...Object.fromEntries(files), ...CONFIG });
  shell.program('claude', HOST);
  shell.env = { ...shell.env, TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' };
  return shell;
}

async function scaling(t: Cleanup): Promise<Shell> {
  const redis = await RedisServer.start(t);
  const shell = new Shell(t, { 'a.txt': 'a\n' });
  shell.env = { ...shell.env, TOOL_QUEUE_URL: redis.url, TOOL_FLEET_KEY: FLEET_KEY };
  return shell;
}

const STORIES: Readonly<Record<string, (t: Cleanup) => Shell | Promise<Shell>>> = {
  'README.md': readme,
  'docs/phases.md': phases,
  'docs/recovery.md': recovery,
  'docs/scaling.md': scaling,
  'docs/selection.md': selection,
};

for (const page of PAGES.filter((one) => commandsOf(one).length > 0))
  test(`${page}: all of its commands, in their order`, async (t) => {
    const story = STORIES[page];
    const typed = story === undefined ? [] : await type(await story(t), page);
    const left = commandsOf(page).filter(({ command }) => !typed.includes(command));
    for (const { command } of left)
      assert.ok(
        ELSEWHERE.some((row) => row.command.test(command)),
        `${page} shows ${command}, and nothing types it`,
      );
    assert.ok(story === undefined || typed.length > 0, 'not all of it is done elsewhere');
  });

test('what is not typed here is run by another suite, and still shown', () => {
  const host = PAGES.flatMap((page) =>
    fencesOf(page)
      .filter(({ language }) => language === 'claude')
      .flatMap(({ text }) => text.split('\n')),
  );
  const shown = [...PAGES.flatMap(commandsOf).map(({ command }) => command), ...host];
  for (const { command, why, runs } of ELSEWHERE) {
    assert.ok(existsSync(runs), `${runs} is not there (${why})`);
    assert.ok(
      shown.some((one) => command.test(one)),
      `${command} is shown nowhere any more`,
    );
  }
  for (const line of host)
    assert.ok(
      ELSEWHERE.some(({ command }) => command.test(line)),
      `${line} is typed nowhere`,
    );
});

/** Commands within sentences and tables, with the page's line. */
function named(page: string): readonly { readonly words: readonly string[]; readonly line: number }[] {
  const text = pageText(page).replaceAll(/^ *```[\s\S]*?^ *```/gm, (block) => block.replaceAll(/[^\n]/g, ''));
  return text.split('\n').flatMap((row, index) =>
    [...row.matchAll(/`(tool [a-z][^`]*)`/g)].map(([, command = '']) => ({
      words: command.split(' '),
      line: index + 1,
    })),
  );
}

test('every command that is only named is one that there is, with the flags that it is named with', () => {
  const helps = new Map<string, string>();
  const help = (path: readonly string[]) => {
    const key = path.join(' ');
    const known = helps.get(key);
    if (known !== undefined) return known;
    const { stdout } = execaSync(process.execPath, [CLI, ...path.slice(1), '--help']);
    helps.set(key, stdout);
    return stdout;
  };
  let count = 0;
  for (const page of PAGES)
    for (const { words, line } of named(page)) {
      count += 1;
      const where = `${page}:${line}: ${words.join(' ')}`;
      const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word));
      const path = words.slice(0, Math.min(end === -1 ? 3 : end, 3));
      const text = help(path);
      const [, usage = '', rest = ''] = /^Usage: (tool(?: [a-z][a-z-]*)*)(.*)/.exec(text) ?? [];
      assert.ok(usage !== '' && path.join(' ').startsWith(usage), `${where}: there is no such command\n${text}`);
      assert.ok(path.join(' ') === usage || !rest.includes('[command]'), `${where}: ${usage} has no such command`);
      for (const word of words.filter((one) => one.startsWith('--')))
        assert.ok(text.includes(word.replace(/=.*/, '')), `${where}: ${usage} has no ${word}`);
    }
  assert.ok(count > 20, `${count} were looked at`);
});
