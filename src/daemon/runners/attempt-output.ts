// Output of hooks and agents: one size-limited file per attempt, and its retention.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { issueDirectory } from '../../agents/issue-directory.ts';
import { removeTree } from '../../base/files/remove-tree.ts';
import { refusal, textOf } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { redact, visibleLines } from '../../base/rules/text.ts';
import type { AttemptOutput, AttemptOutputs, OutputPart } from '../ports.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';

export const ATTEMPT_OUTPUT_MAX_BYTES = 5 * 1024 * 1024;
/** Number of issues with kept output; failed issues are counted separately. */
export const ISSUES_KEPT = 200;
export const FAILED_KEPT = 400;

function fileName(life: number, attempt: number): string {
  return `${life}-${attempt}.log`;
}

export type AttemptOutputFile = { readonly life: number; readonly attempt: number; readonly path: string };

/** The output files of an issue, oldest first. */
export function listAttemptOutputs(stateDir: string, issue: number): AttemptOutputFile[] {
  const directory = issueDirectory(stateDir, issue);
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .flatMap((name) => {
      const match = /^(\d+)-(\d+)\.log$/.exec(name);
      return match === null ? [] : [{ life: Number(match[1]), attempt: Number(match[2]), path: join(directory, name) }];
    })
    .sort((a, b) => a.life - b.life || a.attempt - b.attempt);
}

/** At most so many bytes of an output are read at once. */
export const OUTPUT_PART_BYTES = 64 * 1024;

/**
 * A part of the newest output of an issue, or of the one named `<life>-<attempt>`; undefined: there is none.
 * @param from the first byte; where more than a part follows it, and without it, the part is the end
 */
export function readAttemptOutput(
  stateDir: string,
  issue: number,
  asked: { readonly of?: string | undefined; readonly from?: number | undefined } = {},
): OutputPart | undefined {
  const files = listAttemptOutputs(stateDir, issue);
  const nameOf = ({ life, attempt }: AttemptOutputFile) => `${life}-${attempt}`;
  const file = asked.of === undefined ? files.at(-1) : files.find((one) => nameOf(one) === asked.of);
  if (file === undefined) return undefined;
  const fd = openSync(file.path, 'r');
  try {
    const { size } = fstatSync(fd);
    const end = Math.max(0, size - OUTPUT_PART_BYTES);
    const start = Math.max(end, Math.min(size, asked.from ?? 0));
    const bytes = Buffer.alloc(size - start);
    const read = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, start));
    // A part that begins anywhere begins with a whole line.
    const skipped = start > (asked.from ?? 0) ? read.indexOf(10) + 1 : 0;
    const text = read.toString('utf8', skipped);
    return { name: nameOf(file), from: start + skipped, to: start + read.length, text };
  } finally {
    closeSync(fd);
  }
}

/** Reports the first write error only: a missing output file is no reason to end an agent. */
class AttemptOutputWriter implements AttemptOutput {
  readonly #secrets: () => readonly string[];
  readonly #onFailure: (error: unknown) => void;
  readonly #onClose: () => void;
  readonly #fd: number | undefined;
  #failed = false;
  #bytes = 0;
  #closed = false;

  constructor(
    path: string,
    options: {
      readonly secrets: () => readonly string[];
      readonly onFailure: (error: unknown) => void;
      readonly onClose: () => void;
    },
  ) {
    this.#secrets = options.secrets;
    this.#onFailure = options.onFailure;
    this.#onClose = options.onClose;
    this.#fd = this.#attempt(() => openSync(path, 'a', 0o600));
  }

  #attempt<T>(act: () => T): T | undefined {
    try {
      return act();
    } catch (error) {
      if (!this.#failed) this.#onFailure(error);
      this.#failed = true;
      return undefined;
    }
  }

  write(text: string): void {
    const fd = this.#fd;
    if (fd === undefined || this.#closed || this.#bytes > ATTEMPT_OUTPUT_MAX_BYTES) return;
    const bytes = Buffer.from(redact(visibleLines(text), this.#secrets()));
    this.#bytes += bytes.length;
    const tooMuch = Math.max(0, this.#bytes - ATTEMPT_OUTPUT_MAX_BYTES);
    const end = `\n[the output is longer than ${ATTEMPT_OUTPUT_MAX_BYTES} bytes; the rest is not kept]\n`;
    this.#attempt(() => {
      writeSync(fd, bytes.subarray(0, bytes.length - tooMuch));
      if (tooMuch > 0) writeSync(fd, end);
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const fd = this.#fd;
    if (fd !== undefined) this.#attempt(() => closeSync(fd));
    this.#onClose();
  }
}

/** Prefix of directories to delete; no issue has such a name. */
const GONE = '.gone-';

export class FileAttemptOutputs implements AttemptOutputs {
  readonly #issues: string;
  readonly #stateDir: string;
  readonly #secrets: () => readonly string[];
  readonly #report: (message: string) => void;
  readonly #hasFailed: (issue: number) => boolean;
  /** Number of running attempts by issue: their output and homes are kept. */
  readonly #inUse = new Map<number, number>();
  /** Issues to forget once their attempt has ended. */
  readonly #forgotten = new Set<number>();
  #cleaning: Promise<void> = Promise.resolve();

  /**
   * @param report logs an error; no error here ends an attempt
   * @param hasFailed whether the issue failed last: people still have to read why
   */
  constructor(
    stateDir: string,
    secrets: () => readonly string[],
    report: (message: string) => void,
    hasFailed: (issue: number) => boolean,
  ) {
    this.#hasFailed = hasFailed;
    this.#stateDir = stateDir;
    this.#issues = join(stateDir, 'issues');
    this.#secrets = secrets;
    this.#report = report;
  }

  open(issue: number, life: number, attempt: number): AttemptOutput {
    const path = join(issueDirectory(this.#stateDir, issue), fileName(life, attempt));
    const onFailure = (error: unknown) =>
      this.#report(textOf(refusal(WORK_CODES.output_incomplete, { path, said: messageOf(error) })));
    try {
      mkdirSync(issueDirectory(this.#stateDir, issue), { recursive: true, mode: 0o700 });
    } catch {
      // Opening the file reports the error.
    }
    this.#inUse.set(issue, (this.#inUse.get(issue) ?? 0) + 1);
    return new AttemptOutputWriter(path, { secrets: this.#secrets, onFailure, onClose: () => this.#release(issue) });
  }

  #release(issue: number): void {
    const others = (this.#inUse.get(issue) ?? 1) - 1;
    if (others > 0) {
      this.#inUse.set(issue, others);
      return;
    }
    this.#inUse.delete(issue);
    if (this.#forgotten.delete(issue)) this.#forget(issue);
  }

  /** Renames the homes at once; they and old issues are deleted in the background. */
  async forget(issue: number): Promise<void> {
    if (this.#inUse.has(issue)) this.#forgotten.add(issue);
    else this.#forget(issue);
  }

  #forget(issue: number): void {
    for (const name of ['homes', 'review']) this.#setAside(join(issueDirectory(this.#stateDir, issue), name));
    this.#cleaning = this.#cleaning.then(() => this.#clean());
  }

  /** Resolves when all deletions requested so far are done. */
  settled(): Promise<void> {
    return this.#cleaning;
  }

  #setAside(path: string): void {
    try {
      renameSync(path, join(this.#issues, GONE + randomBytes(6).toString('hex')));
    } catch (error) {
      if (existsSync(path)) this.#report(`cannot remove ${path}: ${messageOf(error)}`);
    }
  }

  async #clean(): Promise<void> {
    try {
      for (const issue of await this.#unused()) {
        // An attempt may have begun meanwhile. Keep this check and the rename synchronous.
        if (!this.#inUse.has(issue)) this.#setAside(issueDirectory(this.#stateDir, issue));
      }
      for (const name of await readdir(this.#issues)) {
        if (name.startsWith(GONE)) await removeTree(join(this.#issues, name));
      }
    } catch (error) {
      if (existsSync(this.#issues)) this.#report(`cannot clean up ${this.#issues}: ${messageOf(error)}`);
    }
  }

  async #unused(): Promise<number[]> {
    const issues = (await readdir(this.#issues)).filter((name) => /^\d+$/.test(name)).map(Number);
    const failed = issues.filter((issue) => this.#hasFailed(issue));
    const others = issues.filter((issue) => !this.#hasFailed(issue));
    return [...(await this.#beyond(others, ISSUES_KEPT)), ...(await this.#beyond(failed, FAILED_KEPT))];
  }

  /** All issues except the `kept` most recently written ones. */
  async #beyond(issues: readonly number[], kept: number): Promise<number[]> {
    if (issues.length <= kept) return [];
    const dated: { readonly issue: number; readonly at: number }[] = [];
    for (const issue of issues) dated.push({ issue, at: await this.#writtenAt(issue) });
    return dated
      .sort((a, b) => b.at - a.at)
      .slice(kept)
      .map(({ issue }) => issue);
  }

  async #writtenAt(issue: number): Promise<number> {
    const directory = issueDirectory(this.#stateDir, issue);
    const paths = [directory, ...listAttemptOutputs(this.#stateDir, issue).map(({ path }) => path)];
    const times = await Promise.all(
      paths.map((path) =>
        stat(path).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        ),
      ),
    );
    return Math.max(...times);
  }
}
