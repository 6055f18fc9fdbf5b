// A repository's own WORKFLOW.md: read from the default branch at one commit, the last good one kept.

import { readFileSync } from 'node:fs';
import { writeFileAtomic } from '../../base/files/atomic-write.ts';
import type { Clock, Logger } from '../../base/ports.ts';
import { messageIn, type Refusal, refusal, textOf } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { problemsInLine } from '../../base/rules/text.ts';
import { SingleFlight } from '../../base/single-flight.ts';
import type { OwnWorkflow } from '../ports.ts';
import { CONFIG_CODES } from '../rules/codes/config-codes.ts';
import { OWN_FILE, ownFileWords } from '../rules/own-file.ts';
import { readsOwnFile } from '../rules/repository-workflow.ts';
import type { Workflow } from '../rules/workflow.ts';
import type { Comparison } from '../workspaces/mirror/comparison.ts';
import type { Mirror } from '../workspaces/mirror/mirror.ts';
import { parseOwnFile } from './repository-workflow.ts';

/** The file at a commit. */
export type OwnReading =
  | { readonly kind: 'none'; readonly commit: string }
  | { readonly kind: 'text'; readonly commit: string; readonly object: string; readonly text: string }
  /** Something else than a text stands there. */
  | { readonly kind: 'unusable'; readonly commit: string; readonly object: string; readonly problem: Refusal };

type Text = Extract<OwnReading, { kind: 'text' }>;

/** What holds for a repository, and what is wrong with its file. */
export type OwnStatus = { readonly workflow: Workflow; readonly warnings: readonly Refusal[] };

const MAX_BYTES = 100_000;
/** Between two readings that nobody asks for. */
const LOOK_MS = 60_000;
const KINDS: Readonly<Record<string, string>> = {
  '120000': 'a symbolic link',
  '160000': 'a submodule',
  '040000': 'a directory',
};
const LFS_POINTER = 'version https://git-lfs.github.com/spec/';

/** Rejects when the commit cannot be read. */
export async function readOwnFile(
  repository: Pick<Comparison, 'entryIn' | 'fileIn'>,
  commit: string,
  signal: AbortSignal,
): Promise<OwnReading> {
  const entry = await repository.entryIn(commit, OWN_FILE, signal);
  if (entry === null) return { kind: 'none', commit };
  const { mode, object, bytes } = entry;
  const unusable = (expected: string, got: string): OwnReading => ({
    ...{ kind: 'unusable', commit, object },
    problem: refusal(CONFIG_CODES.repository_file_unusable, { expected, got }),
  });
  const other = KINDS[mode];
  if (other !== undefined) return unusable('a file', other);
  if (bytes > MAX_BYTES) return unusable(`at most ${MAX_BYTES} bytes`, `${bytes}`);
  const text = (await repository.fileIn(commit, OWN_FILE, signal)) ?? '';
  if (text.startsWith(LFS_POINTER)) return unusable('a text', 'a pointer to a large file (Git LFS)');
  if (/[\0\ufffd]/.test(text)) return unusable('a text in UTF-8', 'other bytes');
  return { kind: 'text', commit, object, text };
}

/** More keys that are not allowed are not named. */
const MOST_KEYS = 20;

/** @param good what the repository had before, for a file that cannot be used */
export function judgeOwnFile(reading: OwnReading, operator: Workflow, good: Text | null): OwnStatus {
  if (reading.kind === 'none') return { workflow: operator, warnings: [] };
  const { commit } = reading;
  const about = { file: OWN_FILE, commit: commit.slice(0, 7) };
  const instead = (said: string): OwnStatus => {
    const last = good === null ? null : tryParse(good, operator);
    const named = last === null ? "the operator's file" : `${OWN_FILE} at ${good?.commit.slice(0, 7)}`;
    const warning = refusal(CONFIG_CODES.repository_file_invalid, { ...about, said, instead: named });
    return { workflow: last ?? operator, warnings: [warning] };
  };
  if (reading.kind === 'unusable') return instead(messageIn(reading.problem));
  try {
    const { workflow, refused } = parseOwnFile(reading.text, commit, operator);
    const more = refused.length - MOST_KEYS;
    const keys = [...refused.slice(0, MOST_KEYS), ...(more > 0 ? [`and ${more} more`] : [])];
    const warning = refusal(CONFIG_CODES.repository_keys_refused, { ...about, keys });
    return { workflow, warnings: refused.length === 0 ? [] : [warning] };
  } catch (error) {
    return instead(problemsInLine(messageOf(error)));
  }
}

function tryParse({ text, commit }: Text, operator: Workflow): Workflow | null {
  try {
    return parseOwnFile(text, commit, operator).workflow;
  } catch {
    return null;
  }
}

export type RepositoryFileOptions = {
  /** The operator's. */
  readonly workflow: () => Workflow;
  readonly mirror: Pick<Mirror, 'refresh' | 'outdate' | 'defaultBranch' | 'branchHead'> & {
    readonly comparison: Pick<Comparison, 'entryIn' | 'fileIn'>;
  };
  /** Resolves when the copy has been fetched, or could not be. */
  readonly fetched: Promise<void>;
  /** Holds the commit of the last good file. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Runs what nobody waits for. */
  readonly background: (work: (signal: AbortSignal) => Promise<void>) => void;
};

export class RepositoryFile implements OwnWorkflow {
  readonly #options: RepositoryFileOptions;
  readonly #flight = new SingleFlight((signal) => this.#read(signal));
  /** Null: it was never read. */
  #reading: OwnReading | null = null;
  #good: Text | null = null;
  #made: { readonly operator: Workflow; readonly reading: OwnReading; readonly status: OwnStatus } | null = null;
  /** In elapsed time. */
  #lookedAt: number | null = null;
  /** Warnings of the log, each once for each content of the file. */
  #said = '';

  constructor(options: RepositoryFileOptions) {
    this.#options = options;
  }

  /** The operator's workflow with what the repository sets. */
  get workflow(): Workflow {
    return this.status.workflow;
  }

  get status(): OwnStatus {
    const operator = this.#options.workflow();
    const reading = this.#reading;
    if (reading === null || !readsOwnFile(operator)) return { workflow: operator, warnings: [] };
    if (this.#made?.operator !== operator || this.#made.reading !== reading)
      this.#made = { operator, reading, status: this.#judge(reading, operator) };
    return this.#made.status;
  }

  #judge(reading: OwnReading, operator: Workflow): OwnStatus {
    const status = judgeOwnFile(reading, operator, this.#good);
    const isGood = reading.kind === 'text' && status.workflow.own?.commit === reading.commit;
    if (reading.kind === 'none') this.#good = null;
    if (isGood) this.#keep(reading);
    const { log } = this.#options;
    const { own } = status.workflow;
    const object = reading.kind === 'none' ? '' : reading.object;
    const said = [object, own?.sets.join(' '), ...status.warnings.map(({ of, values }) => `${of.code} ${values.keys}`)];
    if (said.join('\n') === this.#said) return status;
    this.#said = said.join('\n');
    for (const warning of status.warnings) log.log('warn', 'workflow', warning);
    if (isGood && own !== undefined && own.sets.length > 0) log.log('info', 'workflow', ownFileWords(own));
    return status;
  }

  /** The next process knows where the last good file is. */
  #keep(good: Text): void {
    const isNew = this.#good?.object !== good.object;
    this.#good = good;
    if (!isNew) return;
    const { path, log } = this.#options;
    try {
      writeFileAtomic(path, `${good.commit}\n`, 0o600);
    } catch (error) {
      const about = { file: OWN_FILE, commit: good.commit.slice(0, 7), said: messageOf(error) };
      log.log('warn', 'workflow', refusal(CONFIG_CODES.repository_file_unkept, about));
    }
  }

  outdate(): void {
    this.#lookedAt = null;
  }

  async look(signal: AbortSignal, onWait?: () => void): Promise<void> {
    const { clock, background, workflow } = this.#options;
    if (!readsOwnFile(workflow())) return;
    const due = this.#lookedAt;
    if (due !== null && clock.elapsed() - due < LOOK_MS) return;
    this.#lookedAt = clock.elapsed();
    if (due === null) {
      onWait?.();
      await this.#tryRead(signal);
    } else background((ending) => this.#tryRead(ending));
  }

  async pin(signal: AbortSignal): Promise<void> {
    if (!readsOwnFile(this.#options.workflow())) return;
    try {
      await this.#flight.join(signal);
    } catch (error) {
      if (this.#reading === null) throw error;
    }
  }

  async #tryRead(signal: AbortSignal): Promise<void> {
    try {
      await this.#flight.join(signal);
    } catch (error) {
      if (signal.aborted) return;
      const own = this.workflow.own;
      const instead = own === undefined ? "the operator's file" : `${OWN_FILE} at ${own.commit.slice(0, 7)}`;
      const what = refusal(CONFIG_CODES.repository_file_unread, { file: OWN_FILE, said: messageOf(error), instead });
      if (this.#said !== textOf(what)) this.#options.log.log('warn', 'workflow', what);
      this.#said = textOf(what);
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { mirror, fetched } = this.#options;
    await fetched;
    try {
      await mirror.refresh(signal);
    } catch (error) {
      // The file that was fetched last is closer to the repository's than that of the operator.
      if (this.#reading === null && !signal.aborted) await this.#readCopy(signal).catch(() => undefined);
      throw error;
    }
    await this.#readCopy(signal, '');
  }

  /** @param empty the commit of a repository without any; left out: none is no reading */
  async #readCopy(signal: AbortSignal, empty?: string): Promise<void> {
    const { mirror, path } = this.#options;
    const commit = (await mirror.branchHead(await mirror.defaultBranch(signal))) ?? empty;
    if (commit === undefined || this.#reading?.commit === commit) return;
    const reading = await readOwnFile(mirror.comparison, commit, signal);
    if (reading.kind !== 'none') this.#good ??= await readLastGood(path, mirror.comparison, signal);
    this.#reading = reading;
    // Judged now, so that the log tells it once.
    void this.status;
  }
}

/**
 * The last good file of another process; null: it cannot be told.
 * @param path of the file that holds its commit
 */
export async function readLastGood(
  path: string,
  repository: Pick<Comparison, 'entryIn' | 'fileIn'>,
  signal: AbortSignal,
): Promise<Text | null> {
  try {
    const commit = readFileSync(path, 'utf8').trim();
    if (!/^[0-9a-f]{40,64}$/.test(commit)) return null;
    const reading = await readOwnFile(repository, commit, signal);
    return reading.kind === 'text' ? reading : null;
  } catch {
    return null;
  }
}
