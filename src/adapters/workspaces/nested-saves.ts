// Repositories inside a workspace: a push carries none of their commits and files, so these are saved before they go.

import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { ToolError } from '../../domain/errors.ts';
import type { WorkspaceTask } from '../../engine/ports.ts';
import { type Clone, saveUncommitted } from '../git/clone.ts';
import { git, tryGit } from '../git/git.ts';
import type { Mirror } from '../git/mirror.ts';
import { readRegular } from '../own-file.ts';

/** More of them, or of the heads of one, are too many to be work: the workspace is set aside then. */
const MAX_NESTED = 100;
const MAX_HEADS = 100;
const MAX_LIST_BYTES = 256 * 1024 * 1024;
const MAX_LINE_BYTES = 4096;
/** What teams keep is saved by its own rules. */
const TEAMS = `.tool${sep}`;

type Signal = AbortSignal;

function optionsOf(clone: Clone, cwd: string, signal: Signal) {
  return { cwd, launch: clone.launch, timeoutMs: clone.timeoutMs, signal, maxBytes: MAX_LIST_BYTES };
}

/** Worktrees of the clone that lie inside it, ignored ones too. */
function linkedIn(path: string): readonly string[] {
  const places = join(path, '.git', 'worktrees');
  if (!existsSync(places)) return [];
  return readdirSync(places).flatMap((name) => {
    const file = readRegular(join(places, name, 'gitdir'), MAX_LINE_BYTES)?.trim();
    const place = file === undefined ? '' : relative(path, dirname(file));
    return place === '' || place.startsWith('..') ? [] : [place];
  });
}

/** Nested repositories below `place`, relative to the clone: files that git would list of a repository end in a slash. */
async function listedIn(clone: Clone, place: string, signal: Signal): Promise<readonly string[]> {
  const isTop = place === '';
  const top = join(clone.path, place);
  const at = isTop ? [] : [`--git-dir=${join(clone.path, '.git')}`, `--work-tree=${top}`];
  const env = isTop ? {} : { env: { ...ENVIRONMENT, GIT_INDEX_FILE: join(clone.path, '.git', 'toolcrew-none') } };
  const how = ['ls-files', '-z', '-t', ...(isTop ? ['--stage'] : []), '-o', '--exclude-standard'];
  const text = await git([...at, ...how], { ...optionsOf(clone, top, signal), ...env });
  return text.split('\0').flatMap((row) => {
    const name = row.startsWith('?')
      ? row.slice(2)
      : /^[A-Z] 160000 .*\t/.test(row)
        ? row.slice(row.indexOf('\t') + 1)
        : '';
    const path = name.replace(/\/$/, '');
    const isNested = name.endsWith('/') || !row.startsWith('?');
    return name !== '' && isNested && existsSync(join(top, path, '.git')) ? [join(place, path)] : [];
  });
}

const ENVIRONMENT = { LC_ALL: 'C', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', HOME: '/nonexistent' };

/** All nested repositories, also those inside others. Throws where there are too many. */
async function nestedIn(clone: Clone, signal: Signal): Promise<readonly string[]> {
  const found = new Set<string>();
  const open = ['', ...linkedIn(clone.path)];
  for (const place of open) {
    const path = join(clone.path, place);
    if (place !== '') {
      if (found.has(place) || place.startsWith(TEAMS) || !existsSync(path) || realpathSync(path) !== path) continue;
      found.add(place);
    }
    if (found.size > MAX_NESTED) throw new ToolError('git', `${clone.path} holds more than ${MAX_NESTED} repositories`);
    open.push(...(await listedIn(clone, place, signal)));
  }
  return [...found];
}

/** Commits of the repository that none of its remotes has, newest heads only. */
async function unpublishedIn(clone: Clone, path: string, signal: Signal): Promise<readonly string[]> {
  const options = optionsOf(clone, path, signal);
  const refs = await git(['for-each-ref', '--format=%(objectname)', 'refs/heads', 'refs/stash'], options);
  const head = await tryGit(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], options);
  const all = new Set([...refs.split('\n'), head.stdout.trim()].filter((sha) => /^[0-9a-f]{40,64}$/.test(sha)));
  if (all.size > MAX_HEADS) throw new ToolError('git', `${path} has more than ${MAX_HEADS} branches`);
  const own: string[] = [];
  for (const sha of all) {
    const more = await git(['rev-list', '--max-count=1', sha, '--not', '--remotes'], options);
    if (more.trim() !== '') own.push(sha);
  }
  return own;
}

/** Whether all files of the repository are as its last commit has them. */
async function isClean(clone: Clone, path: string, signal: Signal): Promise<boolean> {
  const options = optionsOf(clone, path, signal);
  const { exitCode, stdout } = await tryGit(['status', '--porcelain', '--ignore-submodules=all'], options);
  return exitCode === 0 && stdout === '';
}

/**
 * Saves the commits that no remote has and the files that are not committed of every nested repository, each under a ref
 * of its own; gives the refs. Throws when anything could not be saved: then the workspace must stay.
 * @param prefix of the refs
 */
export async function saveNested(
  clone: Clone,
  mirror: Mirror,
  task: WorkspaceTask,
  prefix: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const saved: string[] = [];
  const keep = async (name: string, what: string, place: string, save: (ref: string) => Promise<boolean>) => {
    const ref = await mirror.freeRef(`${prefix}-${name}`);
    if (!(await save(ref))) return;
    saved.push(ref);
    task.output(`${what} of ${place} saved as ${ref}\n`);
  };
  for (const place of await nestedIn(clone, signal)) {
    const path = join(clone.path, place);
    const name = place.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replace(/^-/, '');
    for (const sha of await unpublishedIn(clone, path, signal)) {
      if (await mirror.holds(sha)) continue;
      await keep(`${name}-commits`, 'unpublished commits', place, async (ref) => {
        await mirror.take({ ...clone, path }, sha, ref, signal);
        return true;
      });
    }
    if (await isClean(clone, path, signal)) continue;
    await keep(name, 'files', place, async (ref) => {
      if (!(await saveUncommitted(clone, ref, signal, { path, head: null }))) return false;
      await mirror.take(clone, ref, ref, signal);
      return true;
    });
  }
  return saved;
}
