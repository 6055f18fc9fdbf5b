// Output files of a team's members, beside the team's log: one per member, bounded in size.

import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { visibleLines } from '../base/rules/text.ts';
import { ATTEMPT_OUTPUT_MAX_BYTES } from '../daemon/runners/attempt-output.ts';

type Output = { readonly file: number; bytes: number };

/** Makes control characters visible, so that a file cannot affect a terminal that shows it. */
export class TeamOutputs {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #outputs = new Map<string, Output>();

  /** @param team the directory of its log */
  constructor(team: string, maxBytes = ATTEMPT_OUTPUT_MAX_BYTES) {
    this.#directory = join(team, 'output');
    this.#maxBytes = maxBytes;
  }

  /** Path of a member's output file; creates a missing file. */
  pathOf(name: string): string {
    this.#open(name);
    return this.#path(name);
  }

  #path(name: string): string {
    return join(this.#directory, `${name}.log`);
  }

  /** False: output since the run began exceeds the limit and is dropped; the file notes that once. */
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
    // Keep the file open: the directory may be archived while a member still prints.
    const output = { file: openSync(this.#path(name), 'a', 0o600), bytes: 0 };
    this.#outputs.set(name, output);
    return output;
  }

  close(): void {
    for (const { file } of this.#outputs.values()) closeSync(file);
    this.#outputs.clear();
  }
}
