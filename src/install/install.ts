// Plans an installation and its undoing: every check first, then what has to be written, in an order that a kill cannot harm.

import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { failure } from '../base/rules/errors.ts';
import type { FileOperation, LeftBehind } from './file-operations.ts';
import { planFile, planRemoval } from './file-plan.ts';
import { MANIFEST, type Manifest, manifestText, parseManifest } from './manifest.ts';
import { planMerge, planUnmerge } from './merge-plan.ts';
import type { Outcome } from './outcome.ts';
import type { Payload } from './payload.ts';
import { planPersonal, planPersonalRemoval } from './personal.ts';
import { missingDirectories, readProjectFile, readProjectText } from './project-file.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

export type InstallPlan = { readonly operations: readonly FileOperation[]; readonly outcomes: readonly Outcome[] };

export type InstallOptions = {
  readonly root: string;
  readonly payload: Payload;
  /** Of toolcrew. */
  readonly version: string;
  readonly host: string | null;
  readonly force: boolean;
  /** Patterns that the payload's configuration has beside the usual ones. */
  readonly ownership: NonNullable<Manifest['ownership']>;
  /** Commands that its quality.commands has. */
  readonly commands?: NonNullable<Manifest['commands']>;
};

/** What was installed into the project; null when nothing is. */
export function readManifest(root: string): Manifest | null {
  const text = readProjectText(root, MANIFEST);
  return text === null ? null : parseManifest(text);
}

function depth(path: string): number {
  return path.split('/').length;
}

/** Throws with every problem at once. */
export function planInstall({ root, payload, version, host, force, ownership, commands }: InstallOptions): InstallPlan {
  const old = readManifest(root);
  const recorded = new Map((old?.files ?? []).map((file) => [file.path, file]));
  const files = payload.files.map((file) => planFile(file, { root, recorded, force }));
  const kept = new Set([
    ...payload.files.map(({ path }) => path),
    ...files.flatMap((one) => one.files.map((f) => f.path)),
  ]);
  const stale = (old?.files ?? []).filter(({ path }) => !kept.has(path)).map((file) => planRemoval(root, file));
  const merged = payload.merged.map(({ path, entries }) =>
    planMerge(
      root,
      path,
      entries,
      old?.merged.find((one) => one.path === path),
      force,
    ),
  );
  const problems = [...files.flatMap(({ problem }) => problem ?? []), ...merged.flatMap((one) => one.problems)];
  if (problems.length > 0) throw failure(INSTALL_CODES.install_blocked, { problems });

  const writes = [...files, ...stale, ...merged].flatMap(({ operations }) => operations);
  const directories = missingDirectories(
    root,
    [...writes, { path: MANIFEST }].map(({ path }) => path),
  );
  const manifest: Manifest = {
    version,
    hostVersion: host,
    ownership,
    ...(commands === undefined ? {} : { commands }),
    directories: [...new Set([...(old?.directories ?? []), ...directories])].sort(),
    files: files.flatMap((one) => one.files),
    merged: merged.map((one) => one.merged),
  };
  const bytes = Buffer.from(manifestText(manifest));
  const isSame = readProjectFile(root, MANIFEST)?.equals(bytes) === true;
  const record: FileOperation[] = isSame ? [] : [{ kind: 'write', path: MANIFEST, bytes }];
  const place: FileOperation[] = directories.includes('.tool') ? [{ kind: 'make', path: '.tool' }] : [];
  const personal = planPersonal(root, payload.personal);
  // A directory that both need is made once, and is the project's.
  const ownSteps = personal.operations.filter(({ kind, path }) => kind !== 'make' || !directories.includes(path));
  const rest = directories.filter((path) => path !== '.tool').map((path): FileOperation => ({ kind: 'make', path }));
  return {
    // Whatever a kill leaves, another run knows what is ours: of a first one from the new manifest, of a later one from
    // the old one, whose hashes tell what is not done yet from what somebody has changed.
    operations: [
      ...(old === null ? [...place, ...record, ...rest, ...writes] : [...rest, ...writes, ...record]),
      ...ownSteps,
    ],
    outcomes: [
      ...[...files, ...stale, ...merged].map(({ outcome }) => outcome),
      ...personal.outcomes,
      { path: MANIFEST, did: isSame ? 'unchanged' : old === null ? 'created' : 'changed' },
    ],
  };
}

/** What a team's processes keep beside its records: it can be made again, but not for a team that stands. */
const MADE_AGAIN = ['.tool/cache', '.tool/state'];
/** What a team that stands goes on from. */
const RECORDS = ['.tool/teams', '.tool/worktrees', ...MADE_AGAIN];

function keptWords(path: string, standing: readonly string[]): string {
  const [team] = standing;
  if (team === undefined || !RECORDS.includes(path)) return 'yours';
  const names = standing.join(', ');
  return path === '.tool/teams'
    ? `${standing.length === 1 ? `team ${names} stands` : `teams ${names} stand`}: \`tool team delete ${team}\` ends it, after \`tool init\` it goes on`
    : `of ${names}`;
}

/** What of a project stays in .tool after us, by its names there. */
function leftOver(
  root: string,
  gone: ReadonlySet<string>,
  told: ReadonlySet<string>,
  standing: readonly string[],
): Outcome[] {
  const walk = (path: string): string[] => {
    const status = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (status === undefined || gone.has(path) || told.has(path)) return [];
    if (!status.isDirectory()) return [path];
    return readdirSync(join(root, path)).flatMap((name) => walk(`${path}/${name}`));
  };
  // A team's files are many: they are told by the directory that holds them.
  const names = walk('.tool').map((path) => path.split('/').slice(0, 2).join('/'));
  return [...new Set(names)].map((path) => ({ path, did: 'kept', note: keptWords(path, standing) }));
}

/**
 * Throws when nothing is installed.
 * @param standing names of teams that stand: all that they go on from is kept
 */
export function planUninstall(root: string, standing: readonly string[] = []): InstallPlan {
  const manifest = readManifest(root);
  if (manifest === null) {
    const partly = existsSync(join(root, '.tool', 'hooks')) ? { next: 'Write it again: tool init.' } : {};
    throw failure(INSTALL_CODES.installation_missing, { path: root, manifest: MANIFEST, ...partly });
  }
  const merged = manifest.merged.map((record) => planUnmerge(root, record));
  const files = manifest.files.map((file) => planRemoval(root, file));
  const personal = planPersonalRemoval(root);
  const operations = [...personal.operations, ...[...merged, ...files].flatMap((one) => one.operations)];
  const outcomes = [...[...merged, ...files].map(({ outcome }) => outcome), ...personal.outcomes];
  const removed = operations.flatMap((operation) => (operation.kind === 'remove' ? [operation.path] : []));
  const told = new Set(outcomes.filter(({ did }) => did !== 'removed').map(({ path }) => path));
  const discarded = standing.length > 0 ? [] : MADE_AGAIN.filter((path) => existsSync(join(root, path)));
  // The record's directory is no project's: what a team has there goes or stays with the team.
  const places = personal.operations.length > 0 ? ['.tool/state'] : [];
  const directories = [...new Set([...manifest.directories, ...places])]
    .toSorted((a, b) => depth(b) - depth(a))
    .map((path): FileOperation => ({ kind: 'clear', path }));
  return {
    // What does not come back goes last; only the directory around it can be removed after it.
    operations: [
      ...operations,
      { kind: 'remove', path: MANIFEST },
      ...directories.filter(({ path }) => path !== '.tool'),
      ...discarded.map((path): FileOperation => ({ kind: 'discard', path })),
      ...directories.filter(({ path }) => path === '.tool'),
    ],
    outcomes: [
      ...outcomes,
      { path: MANIFEST, did: 'removed' },
      ...discarded.map((path): Outcome => ({ path, did: 'removed' })),
      ...leftOver(root, new Set([...removed, ...discarded, MANIFEST]), told, standing),
    ],
  };
}

/** What has come of a plan in which not all could be discarded. */
export function outcomesWith(outcomes: readonly Outcome[], left: readonly LeftBehind[]): readonly Outcome[] {
  return outcomes.map((outcome) => {
    const why = left.find(({ path }) => path === outcome.path)?.why;
    return why === undefined ? outcome : { path: outcome.path, did: 'kept', note: `cannot be removed: ${why}` };
  });
}
