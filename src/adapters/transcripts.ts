// What hooks and agents print, one file an attempt, bounded.

import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { redact, visibleLines } from '../domain/text.ts';
import type { Transcript, Transcripts } from '../engine/ports.ts';

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
    if (this.#closed || this.#bytes > TRANSCRIPT_MAX_BYTES) return;
    const bytes = Buffer.from(redact(visibleLines(text), this.#secrets()));
    this.#bytes += bytes.length;
    if (this.#bytes <= TRANSCRIPT_MAX_BYTES) writeSync(this.#fd, bytes);
    else writeSync(this.#fd, `\n[the output is longer than ${TRANSCRIPT_MAX_BYTES} bytes; the rest is not kept]\n`);
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
    await rm(join(issueDirectory(this.#stateDir, issue), 'homes'), { recursive: true, force: true });
    this.#prune();
  }

  /** Keeps the transcripts of the newest issues. */
  #prune(): void {
    const issues = readdirSync(join(this.#stateDir, 'issues')).map(Number).filter(Number.isInteger);
    const old = issues.sort((a, b) => a - b).slice(0, Math.max(0, issues.length - ISSUES_KEPT));
    for (const issue of old) rmSync(issueDirectory(this.#stateDir, issue), { recursive: true, force: true });
  }
}
