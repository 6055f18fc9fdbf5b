// A small repository in which a phase is led from a terminal, by teammates that do what a script says.

import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa, execaSync } from 'execa';
import { SCRIPT_VARIABLE, type TeammateScript } from '../../src/cli/agents/agent-teammate.ts';
import { TEAMS_VARIABLE } from '../../src/team/rules/fallback.ts';
import { Pty } from './pty.ts';
import { type Cleanup, finallyDo, tempDir } from './temp.ts';

const CLI = join(process.cwd(), 'dist', 'cli.js');

const FILES: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify({ name: 'shop', private: true, type: 'module' })}\n`,
  '.gitignore': '.tool/teams/\n.tool/state/\n.tool/cache/\n.tool/worktrees/\n',
  'src/api/session.js': 'export const sessions = new Map();\n',
  'src/pages/account.js': 'export const account = () => "<h1>Account</h1>";\n',
};

/** The command; it has as long as it needs to end after SIGTERM. */
const tool = (args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) =>
  execa(process.execPath, [CLI, ...args], {
    ...{ cwd, env, extendEnv: false, reject: false, stripFinalNewline: false, forceKillAfterDelay: false },
  });

export class PhaseProject {
  readonly root: string;
  /** Variables beside the usual ones; undefined takes one away. */
  env: Readonly<Record<string, string | undefined>> = {};
  /** What each teammate's shell does before it plays. */
  before = '';
  /** The directory that phases and commands run in, from the root. */
  cwd = '.';
  readonly #t: Cleanup;
  readonly home: string;
  readonly #script: string;

  /** @param files in place of the shop's own */
  constructor(t: Cleanup, script: TeammateScript, settings = '', files: Readonly<Record<string, string>> = FILES) {
    const place = tempDir(t);
    this.#t = t;
    this.root = join(place, 'the shop');
    this.home = join(place, 'home');
    this.#script = join(place, 'script.json');
    mkdirSync(this.home);
    this.play(script);
    const config = `workflow:\n  team:\n    enabled: true\n${settings}`;
    for (const [path, text] of Object.entries({ '.tool/config/workflow.yaml': config, ...files })) {
      mkdirSync(dirname(join(this.root, path)), { recursive: true });
      writeFileSync(join(this.root, path), text);
    }
    this.git('init', '-q', '-b', 'main', '.');
    this.git('add', '-A');
    this.git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'A shop');
  }

  /** What the teammates do from now on. */
  play(script: TeammateScript): void {
    writeFileSync(this.#script, JSON.stringify(script));
  }

  git(...args: readonly string[]): string {
    return execaSync({ cwd: this.root })`git ${args}`.stdout;
  }

  /** The command that plays the script. */
  get player(): string {
    return `${SCRIPT_VARIABLE}='${this.#script}' exec '${process.execPath}' '${CLI}' agent teammate`;
  }

  #player(): readonly string[] {
    return ['--command', `${this.before}${this.player}`];
  }

  #env(): Record<string, string> {
    const { PATH = '', NODE_V8_COVERAGE } = process.env;
    const all = {
      PATH,
      HOME: this.home,
      TMPDIR: dirname(this.root),
      [TEAMS_VARIABLE]: '1',
      NODE_V8_COVERAGE,
      ...this.env,
    };
    return Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
  }

  /** Starts a phase; nobody sits at its terminal. */
  start(...args: readonly string[]) {
    const child = tool([...args, ...this.#player()], join(this.root, this.cwd), this.#env());
    const ended = once(child, 'exit');
    finallyDo(this.#t, async () => {
      child.kill();
      await ended;
    });
    return child;
  }

  async #ended(child: ReturnType<typeof tool>) {
    const { exitCode, stdout, stderr } = await child;
    return { code: exitCode ?? null, stdout, stderr };
  }

  lead(...args: readonly string[]) {
    return this.#ended(this.start(...args));
  }

  /** Any other command. */
  tool(...args: readonly string[]) {
    return this.toolWith({}, ...args);
  }

  /** The same in a directory below the root. */
  toolIn(directory: string, ...args: readonly string[]) {
    const cwd = join(this.root, directory);
    return this.#ended(tool(args, cwd, this.#env()));
  }

  /** The same with further variables. */
  toolWith(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
    const cwd = join(this.root, this.cwd);
    return this.#ended(tool(args, cwd, { ...this.#env(), ...env }));
  }

  /** Starts a phase with somebody at its terminal. */
  attend(args: readonly string[], env: Readonly<Record<string, string>> = {}): Pty {
    return this.attendWith([...args, ...this.#player()], env);
  }

  /** The same, with a player among its arguments. */
  attendWith(args: readonly string[], env: Readonly<Record<string, string>> = {}): Pty {
    const size = { columns: 200, rows: 50 };
    return Pty.start(this.#t, [CLI, ...args], size, { ...this.#env(), ...env }, this.root);
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  /** Names below a directory of the project; none where there is no such directory. */
  names(path: string): readonly string[] {
    try {
      return readdirSync(join(this.root, path)).sort();
    } catch {
      return [];
    }
  }

  /** The log of the only team that was put away. */
  archived(): string {
    const [name = ''] = this.names('.tool/teams/archive');
    return this.read(`.tool/teams/archive/${name}/log.jsonl`);
  }
}
