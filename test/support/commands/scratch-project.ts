// A small project in a repository, with a directory beside it, in which commands are run and what they changed is seen.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { execa, execaSync } from 'execa';

const SCRIPTS = {
  ui: 'sed -i s/button/x/ src/components/Button.tsx',
  api: 'echo api >> src/api/users.ts',
  precheck: 'cp notes.txt src/components/a.txt',
  check: 'echo check',
  poststart: 'rm -r src/components',
  start: 'echo start',
  all: 'npm run api && npm run --silent ui',
  again: 'npm run round',
  round: 'npm run again || touch src/components/round',
};

const FILES: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify({ name: 'scratch', version: '1.2.3', scripts: SCRIPTS })}\n`,
  'README.md': 'scratch\n',
  'notes.txt': 'one\ntwo\nthree\n',
  'src/api/users.ts': 'export const users = 1;\n',
  'src/api/orders.ts': 'orders 1\n',
  'src/services/mail.ts': 'mail\n',
  'src/api/twice.mjs': 'export const twice = (n) => n * 2;\n',
  'src/services/half.py': 'def half(n):\n    return n / 2\n',
  'src/services/own/deep/push.ts': 'push\n',
  'src/components/Button.tsx': 'button 1\n',
  'src/components/Card.tsx': 'card 1\n',
  'src/components/deep/users.ts': 'users 1\n',
  'tests/api.test.ts': 'a test\n',
  'scripts/safe.sh': 'echo safe\n',
  'scripts/direct.sh': 'touch src/components/direct.txt\n',
  'scripts/lib.sh': 'write_ui() {\n  touch src/components/lib.txt\n}\n',
  'scripts/nothing.mjs': '',
};

const API_PATCH = `diff --git a/src/api/users.ts b/src/api/users.ts
--- a/src/api/users.ts
+++ b/src/api/users.ts
@@ -1 +1 @@
-export const users = 1;
+export const users = 2;
`;

const UI_PATCH = `diff --git a/src/components/Card.tsx b/src/components/Card.tsx
--- a/src/components/Card.tsx
+++ b/src/components/Card.tsx
@@ -1 +1 @@
-card 1
+card 2
`;

/** What is at each path: its kind, mode and content. */
export type Listing = ReadonlyMap<string, string>;

export type Scratch = {
  readonly project: string;
  readonly outside: string;
  readonly env: Readonly<Record<string, string>>;
};

function write(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function environment(root: string): Readonly<Record<string, string>> {
  const outside = join(root, 'outside');
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    SHELL: '/bin/bash',
    HOME: join(outside, 'home'),
    TMPDIR: join(outside, 'tmp'),
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    // npm keeps no notes of what it ran
    npm_config_cache: join(outside, 'tmp'),
    npm_config_logs_max: '0',
    npm_config_update_notifier: 'false',
  };
}

/** Removes a directory in which something may still write. */
export const GONE = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 } as const;

/** Makes the project once, to be copied for each command. */
export function createTemplate(): { readonly root: string; readonly remove: () => void } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrew-shell-')));
  const template = join(root, 'template');
  const project = join(template, 'project');
  write(project, FILES);
  mkdirSync(join(template, 'outside', 'home'), { recursive: true });
  mkdirSync(join(template, 'outside', 'tmp'));
  writeFileSync(
    join(template, 'outside', 'home', '.gitconfig'),
    '[user]\nname = a\nemail = a@example.com\n[init]\ndefaultBranch = main\n',
  );
  symlinkSync('../components', join(project, 'src/api/link'));
  symlinkSync('../components/Card.tsx', join(project, 'src/api/card.tsx'));
  const run = (file: string, ...args: readonly string[]) =>
    execaSync(file, args, { cwd: project, env: environment(template), extendEnv: false });
  write(join(template, 'packed'), { 'extra.ts': 'extra\n', 'ui/src/components/New.tsx': 'new\n' });
  run('tar', '-cf', 'api.tar', '-C', join(template, 'packed'), 'extra.ts');
  run('tar', '-cf', 'ui.tar', '-C', join(template, 'packed', 'ui'), 'src/components/New.tsx');
  rmSync(join(template, 'packed'), { recursive: true });
  write(project, { 'api.patch': API_PATCH, 'ui.patch': UI_PATCH });
  run('git', 'init', '-q', '--template=');
  run('git', 'add', '-A');
  run('git', 'commit', '-q', '-m', 'first');
  run('git', 'checkout', '-q', '-b', 'other');
  write(project, { 'src/components/Other.tsx': 'other\n', 'src/components/Button.tsx': 'button other\n' });
  run('git', 'add', '-A');
  run('git', 'commit', '-q', '-m', 'second');
  run('git', 'checkout', '-q', 'main');
  write(project, { 'src/services/stashed.ts': 'stashed\n' });
  run('git', 'stash', '-q', '-u');
  // few files, so that a copy is made at once
  run('git', 'gc', '-q');
  // changes that are not committed, which checkout and restore take away; `other` merges beside them
  write(project, {
    'src/components/Card.tsx': 'card 1\n',
    'src/api/orders.ts': 'orders 2\n',
    'src/components/Loose.tsx': 'loose\n',
  });
  write(project, { 'src/components/Button.tsx': 'button 1 changed\n' });
  return { root, remove: () => rmSync(root, GONE) };
}

/** A copy of its own for one command. */
export function copyTemplate(root: string, name: string): Scratch {
  const own = join(root, name);
  cpSync(join(root, 'template'), own, { recursive: true, verbatimSymlinks: true });
  return { project: join(own, 'project'), outside: join(own, 'outside'), env: environment(own) };
}

/** The same by a program: meanwhile the commands of other copies run. */
export async function copyAside(root: string, name: string): Promise<Scratch> {
  const own = join(root, name);
  await execa`cp -rP --preserve=mode ${join(root, 'template')} ${own}`;
  return { project: join(own, 'project'), outside: join(own, 'outside'), env: environment(own) };
}

/**
 * Everything below a directory.
 * @param isLeft directories that are not looked into
 */
export function list(
  directory: string,
  isLeft: (path: string) => boolean = () => false,
  found = new Map<string, string>(),
): Listing {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    try {
      add(path, isLeft, found);
    } catch (error) {
      // What still runs may take a file away while it is looked at.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      found.delete(path);
    }
  }
  return found;
}

function add(path: string, isLeft: (path: string) => boolean, found: Map<string, string>): void {
  const stat = lstatSync(path);
  const mode = (stat.mode & 0o7777).toString(8);
  if (stat.isSymbolicLink()) found.set(path, `link ${readlinkSync(path)}`);
  else if (stat.isDirectory()) {
    found.set(path, `directory ${mode}`);
    if (!isLeft(path)) list(path, isLeft, found);
  } else if (stat.isFile())
    found.set(path, `file ${mode} ${createHash('sha1').update(readFileSync(path)).digest('hex')}`);
  else found.set(path, `other ${mode}`);
}

/** Whether git keeps it for itself. */
export function isGits(path: string): boolean {
  return path.includes('/.git/');
}

export function changedPaths(before: Listing, after: Listing): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path) !== after.get(path))
    .sort();
}

/** What goes on in the background has so long, ms; then it is killed. */
const BACKGROUND_MS = 5_000;

/**
 * Runs a program, and what it leaves in the background; how they end does not matter.
 * @param said a descriptor for what it says on stderr; `ignore`: it is not kept
 */
export async function runWords(
  [program = '', ...args]: readonly string[],
  scratch: Scratch,
  said: number | 'ignore',
): Promise<void> {
  const child = spawn(program, args, {
    cwd: scratch.project,
    env: scratch.env,
    // A group of its own: what it leaves behind ends with it.
    detached: true,
    // The last is open for as long as a process has it that the program has started.
    stdio: ['ignore', 'ignore', said, 'pipe'],
  });
  const left = (child.stdio[3] as Readable).resume();
  const areOver = once(left, 'close');
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Nobody is left.
    }
  };
  const timer = setTimeout(end, 20_000);
  await once(child, 'exit');
  clearTimeout(timer);
  // Who has a session of its own is not ended with the group.
  const late = setTimeout(() => left.destroy(), BACKGROUND_MS);
  await areOver;
  clearTimeout(late);
  end();
}
