// What hooks and agents print, one file an attempt, bounded.

import { closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { redact, visibleLines } from '../domain/text.ts';
import type { Transcript, Transcripts } from '../engine/ports.ts';
import { removeTree } from './remove-tree.ts';

export const TRANSCRIPT_MAX_BYTES = 5 * 1024 * 1024;
const ISSUES_KEPT = 200;

/** `<state>/issues/<n>`: what is kept of one issue. */
export function issueDirectory(stateDir: string, issue: number): string {
  return join(stateDir, 'issues', String(issue));
}

function fileName(life: number, attempt: number): string {
  return `${life}-${attempt}.log`;
}

export type TranscriptFile = { readonly life: number; readonly attempt: number; readonly path: string };

/** The transcripts of an issue, oldest first. */
export function listTranscripts(stateDir: string, issue: number): TranscriptFile[] {
  const directory = issueDirectory(stateDir, issue);
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .flatMap((name) => {
      const match = /^(\d+)-(\d+)\.log$/.exec(name);
      return match === null ? [] : [{ life: Number(match[1]), attempt: Number(match[2]), path: join(directory, name) }];
    })
    .sort((a, b) => a.life - b.life || a.attempt - b.attempt);
}

class TranscriptWriter implements Transcript {
  readonly #fd: number;
  readonly #secrets: () => readonly string[];
  #bytes = 0;
  #closed = false;

  constructor(path: string, secrets: () => readonly string[]) {
    this.#fd = openSync(path, 'a', 0o600);
    this.#secrets = secrets;
  }

  write(text: string): void {
    const room = TRANSCRIPT_MAX_BYTES - this.#bytes;
    if (this.#closed || room < 0) return;
    const bytes = Buffer.from(redact(visibleLines(text), this.#secrets()));
    this.#bytes += bytes.length;
    try {
      writeSync(this.#fd, bytes.subarray(0, room));
      if (bytes.length > room)
        writeSync(this.#fd, `\n[the output is longer than ${TRANSCRIPT_MAX_BYTES} bytes; the rest is not kept]\n`);
    } catch {
      // A full disk must not end the agent that speaks, nor the daemon that listens.
      this.#bytes = Number.POSITIVE_INFINITY;
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
  }
}

export class FileTranscripts implements Transcripts {
  readonly #stateDir: string;
  readonly #secrets: () => readonly string[];

  constructor(stateDir: string, secrets: () => readonly string[]) {
    this.#stateDir = stateDir;
    this.#secrets = secrets;
  }

  open(issue: number, life: number, attempt: number): Transcript {
    const directory = issueDirectory(this.#stateDir, issue);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return new TranscriptWriter(join(directory, fileName(life, attempt)), this.#secrets);
  }

  async forget(issue: number): Promise<void> {
    await removeTree(join(issueDirectory(this.#stateDir, issue), 'homes'));
    await this.#prune();
  }

  /** Keeps the issues that were worked on last: an old number may be at work just now. */
  async #prune(): Promise<void> {
    const issues = join(this.#stateDir, 'issues');
    if (!existsSync(issues)) return;
    const directories = readdirSync(issues).map((name) => join(issues, name));
    const newestFirst = directories.map((path) => ({ path, at: statSync(path).mtimeMs })).sort((a, b) => b.at - a.at);
    for (const { path } of newestFirst.slice(ISSUES_KEPT)) await removeTree(path);
  }
}
