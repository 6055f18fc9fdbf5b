// A project that the command was installed into, and the real host program at work in it with a played model.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { execa, execaSync } from 'execa';
import { cleanEnv } from './daemon.ts';
import { fields } from './forge.ts';
import { type HostVersion, hostProgram } from './host.ts';
import { type Tree, writeTree } from './installed.ts';
import { ModelServer, type Outcome } from './model-server.ts';
import type { Conversation, Play } from './played-agents.ts';
import { type Cleanup, finallyDo, tempDir } from './temp.ts';
import { within } from './within.ts';

type Fields = Readonly<Record<string, unknown>>;

export const SPEC = 'SPEC-USERS-001';

const SPEC_TEXT = `---
id: ${SPEC}
title: Two small things
status: approved
created: 2026-01-30
updated: 2026-01-31
---

# Two small things

> Both are asked for.

## Requirements

- R1: When an account is asked for by id, the API shall answer with its owner.
- R2: The banner component shall print the greeting in capitals.
`;

const task = (id: string, about: string, file: string, domain: string, after: string, requirement: string) =>
  `## ${id}: ${about}\n\n- files: \`${file}\`\n- depends on: ${after}\n- domain: ${domain}\n- requirements: ${requirement}\n`;

/** Two tasks that do not depend on each other: two teammates can begin at once. Each has its test. */
const PLAN_TEXT = [
  '# Plan\n',
  task('T1', 'Answer with the owner', 'src/api/users.js', 'backend', 'none', 'R1'),
  task('T2', 'Print in capitals', 'src/components/banner.js', 'frontend', 'none', 'R2'),
  task('T3', 'Test the owner', 'tests/users.test.js', 'tests', 'T1', 'R1'),
  task('T4', 'Test the banner', 'tests/banner.test.js', 'tests', 'T2', 'R2'),
].join('\n');

const ACCEPTANCE_TEXT = `# Acceptance

- A1 (R1): Given an account, when it is asked for by id, then the API answers with its owner.
- A2 (R2): Given a greeting, when the banner prints it, then it is in capitals.
`;

const EARLIER = "export const ownerOf = (id) => ['owner', id].join(' ');\n";
export const BUGGY = "export const ownerOf = (id) => 'owner ' + (id + 1);\n";
export const MENDED = "export const ownerOf = (id) => 'owner ' + id;\n";
export const BANNER = 'export const banner = (text) => text.toUpperCase();\n';
/** Passes at first, and fails while the bug is there. */
export const FAILING_TEST = 'the owner of account 7 is owner 7';

const FILES: Tree = {
  'package.json': JSON.stringify({ name: 'shop', type: 'module', private: true, scripts: { test: 'node --test' } }),
  'README.md': '# shop\n',
  '.gitignore': 'node_modules/\n',
  'src/api/users.js': EARLIER,
  'src/components/banner.js': 'export const banner = (text) => text;\n',
  'tests/users.test.js': [
    "import assert from 'node:assert/strict';",
    "import test from 'node:test';",
    "import { ownerOf } from '../src/api/users.js';",
    "import { banner } from '../src/components/banner.js';",
    `test('${FAILING_TEST}', () => assert.equal(ownerOf(7), 'owner 7'));`,
    "test('the banner is printed', () => assert.match(banner('Hello'), /hello/i));",
    '',
  ].join('\n'),
  [`.tool/specs/${SPEC}/spec.md`]: SPEC_TEXT,
  [`.tool/specs/${SPEC}/plan.md`]: PLAN_TEXT,
  [`.tool/specs/${SPEC}/acceptance.md`]: ACCEPTANCE_TEXT,
};

const CLI = join(process.cwd(), 'dist', 'cli.js');

/** Who waits for something that never comes is ended. */
const LIMIT_MS = 600_000;

export const API_KEY = 'sk-test-0123456789-0123456789';

export type HostOptions = {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Asks nobody for leave; true when absent. */
  readonly bypass?: boolean;
  /** The prompt waits until the team server has started, however busy the machine is; true when absent. */
  readonly waits?: boolean;
  /** Where in the project it is started; its root when absent. */
  readonly at?: string;
};

/** A played model makes the calls that it was told at once, and looks for no tool that is not there yet. */
const WAITING = { MCP_CONNECTION_NONBLOCKING: '0', MCP_CONNECT_TIMEOUT_MS: '120000' };

function withoutWaiting(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !Object.hasOwn(WAITING, name)));
}

export type HostRun = {
  readonly code: number | null;
  readonly stderr: string;
  readonly events: readonly Fields[];
  readonly model: ModelServer;
};

/** How the team comes into the host: installed into the project, as a plugin that is loaded beside it, both, or not at all. */
export type Form = 'installed' | 'plugin' | 'both' | 'none';

/** What a person writes who has nothing installed into the project. */
const ENABLED = 'workflow:\n  team:\n    enabled: true\n';

let unpacked: string | undefined;

/** The package as it is published, unpacked; once for all hosts of a file, since none writes in it. */
function unpackedPackage(): string {
  unpacked ??= unpackPackage();
  return unpacked;
}

function unpackPackage(): string {
  const place = mkdtempSync(join(tmpdir(), 'toolcrew-test-'));
  process.once('exit', () => rmSync(place, { recursive: true, force: true }));
  const { stdout } = execaSync`npm pack --json --ignore-scripts --pack-destination ${place}`;
  const [{ filename }] = JSON.parse(stdout);
  execaSync`tar -xzf ${join(place, filename)} -C ${place}`;
  // As npm puts its packages into it.
  symlinkSync(join(process.cwd(), 'node_modules'), join(place, 'package', 'node_modules'));
  return join(place, 'package');
}

export class TeamHost {
  readonly version: HostVersion;
  readonly form: Form;
  readonly root: string;
  readonly home: string;
  readonly #t: Cleanup;
  /** Each start of node, or of sh, by a hook or a server: its arguments. */
  readonly #starts: string;
  readonly #bin: string;
  readonly #plugin: string | undefined;

  constructor(t: Cleanup, version: HostVersion, form: Form = 'installed', files = FILES) {
    this.#t = t;
    this.version = version;
    this.form = form;
    const place = tempDir(t);
    this.root = join(place, 'project');
    this.home = join(place, 'home');
    this.#bin = join(place, 'bin');
    this.#starts = join(place, 'starts');
    for (const directory of [this.root, this.home, this.#bin]) mkdirSync(directory);
    writeTree(this.root, files);
    writeFileSync(this.#starts, '');
    // What hooks and servers are started by, with a line for each start.
    for (const [name, program] of [
      ['node', process.execPath],
      ['sh', '/bin/sh'],
    ] as const)
      writeFileSync(
        join(this.#bin, name),
        `#!/bin/sh\nprintf '%s\\n' "$*" >> '${this.#starts}'\nexec '${program}' "$@"\n`,
        { mode: 0o755 },
      );
    this.git('init', '-q');
    this.git('add', '-A');
    this.git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'Begin');
    // As a person has it: the plugin asks it for its version where nothing else tells.
    symlinkSync(hostProgram(version), join(this.#bin, 'claude'));
    if (form === 'plugin') this.write('.tool/config/workflow.yaml', ENABLED);
    if (form === 'installed' || form === 'both') this.tool('init', this.root, '--host-version', version);
    if (form === 'plugin' || form === 'both') this.#plugin = unpackedPackage();
  }

  get spawnTool(): string {
    return this.version === '2.1.33' ? 'Task' : 'Agent';
  }

  /**
   * Answers to what a new host asks before its first prompt; that the team server may start the installation says.
   * @param bypass asks nobody for leave, in place of the host's own default
   */
  settle({ bypass = true }: { readonly bypass?: boolean } = {}): void {
    const state = {
      hasCompletedOnboarding: true,
      theme: 'dark',
      ...(bypass ? { bypassPermissionsModeAccepted: true } : {}),
      customApiKeyResponses: { approved: [API_KEY.slice(-20)], rejected: [] },
      projects: { [this.root]: { hasTrustDialogAccepted: true } },
    };
    writeFileSync(join(this.home, '.claude.json'), JSON.stringify(state));
    if (bypass) writeTree(this.home, { '.claude/settings.json': '{"skipDangerousModePermissionPrompt":true}' });
  }

  /** A tool of the team's server. */
  ours(tool: string): string {
    return `mcp__${this.form === 'plugin' ? 'plugin_tool_' : ''}team__${tool}`;
  }

  /** Whether agents work in the background while the lead goes on. */
  get hasBackground(): boolean {
    return this.version !== '2.1.33';
  }

  git(...args: readonly string[]): string {
    return execaSync({ env: cleanEnv(this.home), extendEnv: false })`git -C ${this.root} ${args}`.stdout;
  }

  /** The command, as a shell starts it. */
  get command(): string {
    return `'${process.execPath}' '${CLI}'`;
  }

  tool(...args: readonly string[]): string {
    return this.toolOf(process.cwd(), ...args);
  }

  /** A command of the package in that directory. */
  toolOf(place: string, ...args: readonly string[]): string {
    const run = execaSync({ cwd: this.root, env: cleanEnv(this.home), extendEnv: false });
    return run`${process.execPath} ${join(place, 'dist', 'cli.js')} ${args}`.stdout;
  }

  /** What a command prints that ends otherwise than well. */
  tried(...args: readonly string[]): string {
    const run = execaSync({ cwd: this.root, env: cleanEnv(this.home), extendEnv: false, reject: false });
    return run`${process.execPath} ${CLI} ${args}`.stdout;
  }

  path(file: string): string {
    return join(this.root, file);
  }

  read(file: string): string {
    return existsSync(this.path(file)) ? readFileSync(this.path(file), 'utf8') : '';
  }

  write(file: string, text: string): void {
    writeTree(this.root, { [file]: text });
  }

  /** The process that answers the hooks of the session. */
  get server(): number {
    const state = this.path('.tool/state');
    const [mark = ''] = readdirSync(state).filter((name) => name.startsWith('server-'));
    return Number.parseInt(readFileSync(join(state, mark), 'utf8'), 10);
  }

  /** Kills that process, and waits until the host has taken note. */
  async killServer(): Promise<void> {
    const { server } = this;
    process.kill(server, 'SIGKILL');
    while (existsSync(`/proc/${server}`)) await pause(5);
  }

  /** How often that script was started by now. */
  starts(script: string): number {
    return readFileSync(this.#starts, 'utf8')
      .split('\n')
      .filter((line) => line.includes(script)).length;
  }

  env(url: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return {
      ...cleanEnv(this.home),
      PATH: `${this.#bin}:${process.env.PATH}`,
      ANTHROPIC_API_KEY: API_KEY,
      ANTHROPIC_BASE_URL: url,
      IS_SANDBOX: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      ...WAITING,
      ...(this.#plugin === undefined ? {} : { TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' }),
      ...more,
    };
  }

  /** One prompt without a screen, to the end of the program; throws what a part of the play threw. */
  async run(
    prompt: string,
    play: Play,
    { args = [], env = {}, bypass = true, waits = true, at = '.' }: HostOptions = {},
  ): Promise<HostRun> {
    const model = await ModelServer.start(this.#t, play.script);
    const all = this.env(model.url, env);
    const child = execa(
      hostProgram(this.version),
      [
        '-p',
        prompt,
        '--output-format',
        'stream-json',
        '--verbose',
        ...(bypass ? ['--dangerously-skip-permissions'] : []),
        ...(this.#plugin === undefined ? [] : ['--plugin-dir', this.#plugin]),
        ...args,
      ],
      {
        cwd: this.path(at),
        env: waits ? all : withoutWaiting(all),
        ...{ extendEnv: false, stdin: 'ignore', detached: true, reject: false },
      },
    );
    const { pid } = child;
    const endGroup = () => {
      try {
        if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      } catch {
        // All of it has ended.
      }
    };
    finallyDo(this.#t, endGroup);
    const left = () => `these wait: ${play.unfinished().join(', ')}`;
    const ended = within('the program ends', Promise.race([child, play.failed]), left, LIMIT_MS);
    const { exitCode, stdout, stderr } = await ended.finally(endGroup);
    const code = exitCode ?? null;
    assert.deepEqual(play.unfinished(), [], `these were left behind when the program ended (${code}): ${stderr}`);
    const events = stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [fields(JSON.parse(line))] : []));
    return { code, stderr, events, model };
  }

  /** The records of the team of that name that was put away, as the command tells them. */
  records(team: string): readonly Fields[] {
    const [archived = team] = readdirSync(this.path('.tool/teams/archive')).filter((name) => name.startsWith(team));
    return this.tool('team', 'events', archived, '--json')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => fields(JSON.parse(line)));
  }
}

export function rows(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fields) : [];
}

/** What one of the team's tools answered; throws when it refused. */
export function answerOf(outcome: Outcome): Fields {
  assert.ok(!outcome.isError, outcome.text);
  return fields(JSON.parse(outcome.text));
}

/** Holds that a call was refused, with these words. */
export function refused(outcome: Outcome, expected: string | RegExp): void {
  assert.ok(outcome.isError, `expected a refusal with ${expected}, got: ${outcome.text}`);
  mentions(outcome.text, expected);
}

/** A shell command that may not write: it fails, and its output or the news with it say why; gives both. */
export async function shellRefused(agent: Conversation, command: string, expected: string | RegExp): Promise<string> {
  const { isError, text } = await agent.use('Bash', { command, description: 'x' });
  const told = `${text}\n${agent.news.text}`;
  assert.ok(isError, `expected a refusal with ${expected}, got: ${told}`);
  mentions(told, expected);
  return told;
}

/** Holds that a text has something in it, and shows no more than its end when it has not: requests are long. */
export function mentions(text: string | undefined, expected: string | RegExp): void {
  const found = typeof expected === 'string' ? text?.includes(expected) : expected.test(text ?? '');
  if (found !== true) assert.fail(`expected ${expected} in:\n${text === undefined ? 'nothing' : text.slice(-3_000)}`);
}
