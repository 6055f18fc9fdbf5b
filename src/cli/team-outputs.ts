// What each of a team prints, kept beside the team's log: a file for each, bounded.

import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { TRANSCRIPT_MAX_BYTES } from '../adapters/transcripts.ts';
import { visibleLines } from '../domain/text.ts';

type Output = { readonly file: number; bytes: number };

/** What is in the files acts on no terminal. */
export class TeamOutputs {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #outputs = new Map<string, Output>();

  /** @param team the directory of its log */
  constructor(team: string, maxBytes = TRANSCRIPT_MAX_BYTES) {
    this.#directory = join(team, 'output');
    this.#maxBytes = maxBytes;
  }

  /** Where one's words are, from now on at the latest. */
  pathOf(name: string): string {
    this.#open(name);
    return this.#path(name);
  }

  #path(name: string): string {
    return join(this.#directory, `${name}.log`);
  }

  /** False: it has said so much since the run began that no more of it is kept, which is said there once. */
  write(name: string, text: string): boolean {
    const output = this.#open(name);
    if (output.bytes > this.#maxBytes) return false;
    const bytes = Buffer.from(visibleLines(text));
    output.bytes += bytes.length;
    if (output.bytes <= this.#maxBytes) {
      writeSync(output.file, bytes);
      return true;
    }
    writeSync(output.file, bytes.subarray(0, bytes.length - (output.bytes - this.#maxBytes)));
    writeSync(output.file, `\n[more than ${this.#maxBytes} bytes since the run began: the rest is not kept]\n`);
    return false;
  }

  #open(name: string): Output {
    const known = this.#outputs.get(name);
    if (known !== undefined) return known;
    mkdirSync(this.#directory, { recursive: true });
    // By its number: the directory is put away while somebody still speaks.
    const output = { file: openSync(this.#path(name), 'a', 0o600), bytes: 0 };
    this.#outputs.set(name, output);
    return output;
  }

  close(): void {
    for (const { file } of this.#outputs.values()) closeSync(file);
    this.#outputs.clear();
  }
}
