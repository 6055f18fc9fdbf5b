// Running the project's commands: with the shell, in the root, until the deadline.

import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { leashed } from '../../base/processes/leash.ts';
import { runProgram } from '../../base/processes/program.ts';
import { isTokenVariable } from '../../base/rules/credential.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { withoutPrefixes } from '../rules/line-prefixes.ts';
import type { CommandEnd } from '../rules/test-ends.ts';
import { withoutRoots } from '../rules/tool-output.ts';

/** Between SIGTERM and SIGKILL. */
const GRACE_MS = 2_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** What would make a test runner believe that it runs inside of another one, and what no check needs to know. */
const LEFT_OUT = ['TOOL_KEY', 'NODE_TEST_CONTEXT', 'NODE_V8_COVERAGE'];

const PROGRAMS = ['node_modules/.bin', '.venv/bin', 'venv/bin'];

/** The caller's environment without credentials, with the project's own programs first on the PATH. */
export function checkEnvironment(env: Environment, root: string): Readonly<Record<string, string>> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || LEFT_OUT.includes(name) || isTokenVariable(name) ? [] : [[name, value] as const],
  );
  const own = PROGRAMS.map((place) => join(root, place)).filter((place) => existsSync(place));
  const path = [...own, env.PATH ?? '/usr/local/bin:/usr/bin:/bin'].join(delimiter);
  return { ...Object.fromEntries(kept), PATH: path, CI: 'true' };
}

/** Sandbox for commands that must not reach what the caller can. */
export type CheckSandbox = {
  /** In place of the caller's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** A directory for temporary files, reports among them. */
  readonly tmp: string;
  /** Directories whose installed packages are found there, beside that where they run. */
  readonly installedIn: readonly string[];
  /** The command line of a program as it is started there. */
  readonly wrap: (file: string, args: readonly string[]) => readonly [string, readonly string[]];
  readonly close: () => Promise<void>;
};

export type Commands = {
  readonly env: Readonly<Record<string, string>>;
  /** What is left until the deadline, ms; 0 when it is over. */
  remainingMs(): number;
  /** Runs a script, at most until the deadline or `limitMs`; its output tells paths from the root. Throws when it is aborted. */
  run(
    command: string,
    script: string,
    options?: { readonly env?: Readonly<Record<string, string>>; readonly limitMs?: number },
  ): Promise<CommandEnd>;
  /** Standard output of something small; null when it failed. */
  ask(script: string): Promise<string | null>;
};

function together(stdout: string, stderr: string): string {
  return stdout === '' || stdout.endsWith('\n') ? `${stdout}${stderr}` : `${stdout}\n${stderr}`;
}

export function createCommands(options: {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly now: () => number;
  readonly deadline: number;
  readonly signal: AbortSignal;
  readonly output: (text: string) => void;
  /** Undefined: where the caller itself runs. */
  readonly sandbox?: CheckSandbox | undefined;
}): Commands {
  const { root, env, now, deadline, signal, output, sandbox } = options;
  const remainingMs = () => Math.max(0, deadline - now());
  const roots = [...new Set([root, realpathSync(root)])];
  const start = (script: string, more: Readonly<Record<string, string>>, timeoutMs: number) => {
    // Node hands the folder of its counters on, whatever the environment says; a runner that counts itself stumbles over it.
    const words = ['-c', `unset NODE_V8_COVERAGE\n${script}`];
    const [file, args] = sandbox?.wrap('/bin/sh', words) ?? ['/bin/sh', words];
    return runProgram(...leashed(file, args), {
      cwd: root,
      leash: true,
      env: { ...env, ...more },
      signal,
      graceMs: GRACE_MS,
      maxBytes: MAX_BYTES,
      timeoutMs,
    });
  };
  return {
    env,
    remainingMs,
    run: async (command, script, { env: more = {}, limitMs = Number.POSITIVE_INFINITY } = {}) => {
      signal.throwIfAborted();
      const timeoutMs = Math.min(remainingMs(), limitMs);
      if (timeoutMs <= 0) return { command, exitCode: null, timedOut: true, durationMs: 0, output: '' };
      output(`$ ${command}\n`);
      const startedAt = now();
      const { exitCode, timedOut, stdout, stderr } = await start(script, more, timeoutMs);
      signal.throwIfAborted();
      const text = together(stdout, stderr);
      output(text);
      if (timedOut) output(`${/[^\n]$/.test(text) ? '\n' : ''}timed out after ${Math.round(timeoutMs / 100) / 10} s\n`);
      const [said = '', errors = ''] = withoutPrefixes([stdout, stderr]);
      const durationMs = Math.round(now() - startedAt);
      return {
        command,
        exitCode,
        timedOut,
        durationMs,
        output: withoutRoots(together(said, errors), roots),
      };
    },
    ask: async (script) => {
      const { exitCode, stdout } = await start(script, {}, Math.min(remainingMs() + 1, 30_000));
      signal.throwIfAborted();
      return exitCode === 0 ? stdout : null;
    },
  };
}
