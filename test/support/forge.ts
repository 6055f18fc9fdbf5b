// The embedded forge for tests: a small repository, a maintainer, the daemon's account, a triager and a stranger.

import { mkdtempSync, rmSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Account } from '../../src/cli/demo/forge/accounts.ts';
import { Forge, type ForgeOptions } from '../../src/cli/demo/forge/forge.ts';
import { cloneEnvironment, git } from '../../src/git/git.ts';
import { type Cleanup, finallyDo, tempDir } from './temp.ts';

/** Found in no log, journal, state, page or transcript: see the adversary's test. */
export const DAEMON_TOKEN = 'ghp_canary0123456789abcdefDAEMON';

export const ACCOUNTS: readonly Account[] = [
  { login: 'maintainer', role: 'admin', type: 'User', token: 'token-of-the-maintainer' },
  { login: 'toolcrew-bot', role: 'write', type: 'User', token: DAEMON_TOKEN },
  { login: 'triager', role: 'triage', type: 'User', token: 'token-of-a-triager' },
  { login: 'helper[bot]', role: 'none', type: 'Bot', token: 'token-of-a-bot' },
  { login: 'stranger', role: 'none', type: 'User', token: 'token-of-a-stranger' },
];

export const BASE = '/repos/maintainer/project';

const IDENTITY = {
  GIT_AUTHOR_NAME: 'm',
  GIT_AUTHOR_EMAIL: 'm@localhost',
  GIT_COMMITTER_NAME: 'm',
  GIT_COMMITTER_EMAIL: 'm@localhost',
};

export const FILES: Readonly<Record<string, string>> = {
  'README.md': '# project\n\nA line.\n',
  'src/greet.js': "export const greet = (name) => 'Hello, ' + name;\n",
};

export function gitAs(cwd: string, ...args: string[]): Promise<string> {
  return git(args, { cwd, env: { ...cloneEnvironment(process.env), ...IDENTITY } });
}

/** Writes files and commits them in a work tree. */
export async function commitFiles(
  cwd: string,
  files: Readonly<Record<string, string>>,
  message: string,
): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), content);
  }
  await gitAs(cwd, 'add', '--all');
  await gitAs(cwd, 'commit', '--quiet', '-m', message);
  return (await gitAs(cwd, 'rev-parse', 'HEAD')).trim();
}

async function makeRepository(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  const work = join(directory, 'origin-work');
  await mkdir(work, { recursive: true });
  await gitAs(work, 'init', '--quiet', '--initial-branch=main');
  await commitFiles(work, files, 'First commit');
  await gitAs(work, 'clone', '--quiet', '--bare', work, join(directory, 'origin.git'));
  await gitAs(work, 'remote', 'add', 'origin', join(directory, 'origin.git'));
  // Written anew by each copy: it holds the times and numbers of the files.
  await rm(join(work, '.git', 'index'));
}

const made = new Map<string, Promise<string>>();

/** Where these files are the first commit, made once for each process: to make it takes eight processes. */
function madeWith(files: Readonly<Record<string, string>>): Promise<string> {
  const key = JSON.stringify(files);
  const known = made.get(key);
  if (known !== undefined) return known;
  const directory = mkdtempSync(join(tmpdir(), 'toolcrew-test-origin-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const making = makeRepository(directory, files).then(() => directory);
  made.set(key, making);
  return making;
}

/** A bare repository with one commit on `main`; `work` is a work tree that pushes to it. */
export async function bareRepository(
  directory: string,
  files: Readonly<Record<string, string>> = FILES,
): Promise<{ readonly bare: string; readonly work: string }> {
  const from = await madeWith(files);
  const bare = join(directory, 'origin.git');
  const work = join(directory, 'origin-work');
  for (const [name, config] of [
    ['origin.git', join(bare, 'config')],
    ['origin-work', join(work, '.git', 'config')],
  ] as const) {
    await cp(join(from, name), join(directory, name), { recursive: true });
    await writeFile(config, (await readFile(config, 'utf8')).replaceAll(from, directory));
  }
  await gitAs(work, 'add', '--all');
  return { bare, work };
}

export type TestForge = {
  readonly forge: Forge;
  readonly directory: string;
  readonly bare: string;
  readonly work: string;
  /** Opens an issue and puts a label on it; gives its number. */
  readonly open: (
    title: string,
    options?: {
      readonly body?: string;
      readonly author?: string;
      readonly by?: string;
      readonly label?: string | null;
    },
  ) => Promise<number>;
  readonly label: (issue: number, label: string, by?: string) => Promise<void>;
  readonly unlabel: (issue: number, label: string) => Promise<void>;
  /** Puts another text in the place of the issue's. */
  readonly write: (issue: number, body: string) => Promise<void>;
  readonly close: (issue: number) => Promise<void>;
  readonly labelsOf: (issue: number) => Promise<string[]>;
  readonly pulls: () => Promise<
    {
      readonly number: number;
      readonly title: string;
      readonly body: string;
      readonly head: string;
      readonly draft: boolean;
    }[]
  >;
  readonly comments: (issue: number) => Promise<string[]>;
};

type Fields = Readonly<Record<string, unknown>>;

export function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function rows(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fields) : [];
}

export async function startForge(
  t: Cleanup,
  files: Readonly<Record<string, string>> = FILES,
  more: {
    readonly repo?: string;
    readonly drafts?: boolean;
    readonly others?: NonNullable<ForgeOptions['others']>;
    readonly apps?: NonNullable<ForgeOptions['apps']>;
    readonly accounts?: ForgeOptions['accounts'];
  } = {},
): Promise<TestForge> {
  const { repo = 'project' } = more;
  const base = `/repos/maintainer/${repo}`;
  const directory = tempDir(t);
  const { bare, work } = await bareRepository(directory, files);
  const forge = await Forge.start({
    owner: 'maintainer',
    repository: bare,
    accounts: ACCOUNTS,
    ...more,
    repo,
  });
  finallyDo(t, () => forge.close());
  for (const name of ['tool-todo', 'tool-done', 'tool-failed', 'tool-question'])
    await forge.call('maintainer', 'POST', `${base}/labels`, { name, color: 'cccccc' });
  const label = async (issue: number, name: string, by = 'maintainer') => {
    const { status, data } = await forge.call(by, 'POST', `${base}/issues/${issue}/labels`, { labels: [name] });
    if (status !== 200) throw new Error(`label: ${status} ${JSON.stringify(data)}`);
  };
  return {
    forge,
    directory,
    bare,
    work,
    async open(title, { body = 'a body', author = 'maintainer', by = 'maintainer', label: name = 'tool-todo' } = {}) {
      const { status, data } = await forge.call(author, 'POST', `${base}/issues`, { title, body });
      if (status !== 201) throw new Error(`open: ${status} ${JSON.stringify(data)}`);
      const number = Number(fields(data).number);
      if (name !== null) await label(number, name, by);
      return number;
    },
    label,
    async unlabel(issue, name) {
      await forge.call('maintainer', 'DELETE', `${base}/issues/${issue}/labels/${name}`);
    },
    async write(issue, body) {
      await forge.call('maintainer', 'PATCH', `${base}/issues/${issue}`, { body });
    },
    async close(issue) {
      await forge.call('maintainer', 'PATCH', `${base}/issues/${issue}`, { state: 'closed' });
    },
    async labelsOf(issue) {
      const { data } = await forge.call('maintainer', 'GET', `${base}/issues/${issue}`);
      return rows(fields(data).labels).map((one) => String(one.name));
    },
    async pulls() {
      const all: Fields[] = [];
      for (let page = 1; all.length === 100 * (page - 1); page++) {
        const { data } = await forge.call('maintainer', 'GET', `${base}/pulls?state=all&per_page=100&page=${page}`);
        all.push(...rows(data));
      }
      return all.map((one) => ({
        number: Number(one.number),
        title: String(one.title),
        body: String(one.body),
        head: String(fields(one.head).ref),
        draft: one.draft === true,
      }));
    },
    async comments(issue) {
      const { data } = await forge.call('maintainer', 'GET', `${base}/issues/${issue}/comments`);
      return rows(data).map((one) => String(one.body));
    },
  };
}
