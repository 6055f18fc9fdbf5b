// Fingerprint of a work tree's state: a Git tree id, or a hash of all files where Git gives none.

import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { generatedIn, literalPattern } from '../../git/generated-files.ts';
import { tryGit } from '../../git/git.ts';
import { environmentAt } from '../../git/team-environment.ts';

/** Excluded: teams and their server write here while they work. */
const OWN = ['.tool/teams', '.tool/state', '.tool/cache'];

const LIST_BYTES = 512 * 1024 * 1024;

export type TreeOptions = {
  readonly root: string;
  /** Paths that never count, absolute or from the root: the cache, the configured report. */
  readonly leftOut: readonly string[];
  readonly signal: AbortSignal;
};

export async function treeFingerprint(options: TreeOptions): Promise<string> {
  return (await gitTree(options)) ?? filesHash(options);
}

/** Git tree id of all files that `git add -A` takes, from a temporary index and object store; null without a result. */
async function gitTree({ root, leftOut, signal }: TreeOptions): Promise<string | null> {
  const scratch = await mkdtemp(join(tmpdir(), 'toolcrew-tree-'));
  try {
    const base = environmentAt(root);
    const ask = async (
      args: readonly string[],
      more: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>>; readonly input?: string } = {},
    ) => {
      const { exitCode, stdout } = await tryGit(args, { cwd: root, env: base, signal, maxBytes: LIST_BYTES, ...more });
      signal.throwIfAborted();
      return exitCode === 0 ? stdout : null;
    };
    const places = ['--show-toplevel', '--git-path', 'objects', '--show-prefix'];
    const [top, objects, ...prefix] =
      (await ask(['rev-parse', '--path-format=absolute', ...places]))?.replace(/\n$/, '').split('\n') ?? [];
    if (top === undefined || objects === undefined) return null;
    // The enclosing repository ignores this directory, so its tree does not contain it.
    if ((await realpath(root)) !== (await realpath(top)) && (await ask(['check-ignore', '-q', '.'])) !== null)
      return null;

    const excludes = join(scratch, 'excludes');
    await mkdir(join(scratch, 'objects'));
    const own = leftOut
      .map((path) => relative(top, join(path.startsWith('/') ? '' : root, path)))
      .filter((path) => path !== '' && !path.startsWith('..'));
    await writeFile(
      excludes,
      [...generatedIn(prefix.join('\n')), ...own.map((path) => `/${literalPattern(path)}`), ''].join('\n'),
    );
    const env = {
      ...base,
      GIT_INDEX_FILE: join(scratch, 'index'),
      GIT_OBJECT_DIRECTORY: join(scratch, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
    };
    const inTop = { cwd: top, env };
    // Copy entries, not the index file: its flags hide changes, and its timestamps may be wrong.
    const tracked = await ask(['ls-files', '-s', '-z', '--full-name'], { cwd: top });
    if (tracked === null) return null;
    const steps = [
      () => ask(['update-index', '-z', '--index-info'], { ...inTop, input: tracked }),
      () =>
        ask(
          [
            '-c',
            `core.excludesFile=${excludes}`,
            '-c',
            'core.sparseCheckout=false',
            '-c',
            'core.safecrlf=false',
            'add',
            '-A',
            '--',
            '.',
          ],
          inTop,
        ),
      () =>
        ask(
          [
            'rm',
            '-r',
            '-q',
            '-f',
            '--cached',
            '--ignore-unmatch',
            '--',
            ...OWN.map((path) => join(relative(top, root), path)),
          ],
          inTop,
        ),
    ];
    for (const step of steps) if ((await step()) === null) return null;
    return (await ask(['write-tree'], inTop))?.trim() ?? null;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Directories of installed or built files: without Git there are no ignore rules. */
const NOT_ENTERED = [
  '.git',
  'node_modules',
  'coverage',
  '.nyc_output',
  '__pycache__',
  '.pytest_cache',
  '.ruff_cache',
  '.mypy_cache',
  '.venv',
  'venv',
  'target',
];
const NOT_READ =
  /^(lcov\.info|\.coverage(\..*)?|\.eslintcache|.*\.pyc|(coverage|cobertura)\.(xml|lcov)|(coverage|cover|c)\.out)$/;

/** Hash of names, kinds and contents of all files, in sorted order. */
function filesHash({ root, leftOut, signal }: TreeOptions): string {
  const hash = createHash('sha256');
  const skipped = new Set([...OWN, ...leftOut].map((path) => (path.startsWith('/') ? path : join(root, path))));
  const walk = (directory: string): void => {
    signal.throwIfAborted();
    for (const name of readdirSync(directory).sort()) {
      const path = join(directory, name);
      if (skipped.has(path)) continue;
      const status = lstatSync(path);
      if (status.isDirectory()) {
        if (!NOT_ENTERED.includes(name)) walk(path);
      } else if (!NOT_READ.test(name) && (status.isFile() || status.isSymbolicLink())) {
        const content = status.isFile() ? readFileSync(path) : Buffer.from(readlinkSync(path));
        const kind = status.isFile() ? (status.mode & 0o111 ? 'program' : 'file') : 'link';
        hash.update(`${JSON.stringify([relative(root, path), kind, content.length])}\n`).update(content);
      }
    }
  };
  walk(root);
  return `files-${hash.digest('hex')}`;
}
