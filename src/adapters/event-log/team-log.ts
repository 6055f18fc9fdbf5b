// A team's log on disk: records folded as they come, by whomever they are written, continued in a new file when it has grown.

import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolError } from '../../domain/errors.ts';
import type { Stored } from '../../domain/log.ts';
import { TeamFold } from '../../domain/team/fold.ts';
import type { TeamRecord } from '../../domain/team/record.ts';
import { freezeTeam, thawTeam } from '../../domain/team/snapshot.ts';
import type { TeamState } from '../../domain/team/state.ts';
import type { Appended, TeamLog } from '../../engine/ports.ts';
import { EventLog } from './event-log.ts';
import { decodeTeamRecord } from './team-decoder.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const FILE = /^log(?:\.(\d+))?\.jsonl$/;

export type TeamLogOptions = {
  readonly directory: string;
  readonly now: () => number;
  /** The log is continued in a new file when it is this long and four times as long as its snapshot. */
  readonly maxBytes?: number;
  /** Called with each record that counts or does not, in the order of the file. */
  readonly onRecord?: (record: Stored<TeamRecord>, refusal: string | null) => void;
};

/** Names of a team's log files, the oldest first. */
export function logFiles(directory: string): readonly string[] {
  const numbered = readdirSync(directory).flatMap((name) => {
    const match = FILE.exec(name);
    return match === null ? [] : [{ name, number: Number(match[1] ?? 1) }];
  });
  return numbered.sort((one, other) => one.number - other.number).map(({ name }) => name);
}

/** One opened log of a team. */
export class FileTeamLog implements TeamLog {
  readonly #options: TeamLogOptions;
  readonly #refusals = new Map<string, string>();
  #fold = new TeamFold();
  #log: EventLog<TeamRecord>;
  #snapshotBytes = 0;
  #isFirst = true;

  constructor(options: TeamLogOptions) {
    this.#options = options;
    this.#log = this.#open(logFiles(options.directory).at(-1) ?? 'log.jsonl');
    this.#follow();
  }

  get state(): TeamState {
    return this.#fold.state;
  }

  get directory(): string {
    return this.#options.directory;
  }

  /** How many lines are not whole and do not count. */
  get tornLines(): number {
    return this.#log.incomplete;
  }

  #open(file: string): EventLog<TeamRecord> {
    this.#isFirst = true;
    return new EventLog<TeamRecord>({
      path: join(this.#options.directory, file),
      decode: decodeTeamRecord,
      now: this.#options.now,
      onRecord: (record) => this.#take(record),
    });
  }

  #take(record: Stored<TeamRecord>): void {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isFirst && record.type === 'snapshot') {
      const state = thawTeam(record.state);
      if (state === undefined)
        throw new ToolError(
          'state_unusable',
          `${this.#options.directory}: a log begins with a snapshot that this program cannot read`,
        );
      this.#snapshotBytes = JSON.stringify(record.state).length;
      this.#fold = new TeamFold(state);
      return;
    }
    const refusal = this.#fold.take(record);
    if (refusal !== null) this.#refusals.set(record.id, refusal);
    this.#options.onRecord?.(record, refusal);
  }

  refresh(): void {
    this.#log.readOn();
    this.#follow();
    this.#refusals.clear();
  }

  /** Goes on in the files that continue this one. */
  #follow(): void {
    for (let next = this.state.continuedIn; next !== null; next = this.state.continuedIn) {
      if (!FILE.test(next))
        throw new ToolError('state_unusable', `${this.#options.directory}: a log goes on in ${next}, which is no log`);
      this.#begin(next);
      void this.#log.close();
      this.#log = this.#open(next);
    }
  }

  /** Makes the next file, unless somebody has: whoever folded as far would make the same. */
  #begin(next: string): void {
    const path = join(this.#options.directory, next);
    if (existsSync(path)) return;
    const state = freezeTeam({ ...this.state, continuedIn: null });
    const at = this.#options.now();
    const line = `\n${JSON.stringify({ type: 'snapshot', state, v: 1, id: `snapshot-${next}`, at })}\n`;
    const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    try {
      writeFileSync(temporary, line, { mode: 0o600, flag: 'wx', flush: true });
      linkSync(temporary, path);
    } catch (error) {
      if (!existsSync(path))
        throw new ToolError('state_unusable', `cannot continue the log in ${path}`, { cause: error });
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  async append(record: TeamRecord, options?: { readonly flush?: boolean }): Promise<Appended> {
    for (;;) {
      const stored = this.#log.append(record);
      const refusal = this.#refusals.get(stored.id) ?? null;
      this.#refusals.clear();
      // Asked for before anything closes the file; closing waits for it.
      const flushed = refusal === null && options?.flush !== false ? this.#log.flush() : undefined;
      const isBehindEnd = refusal !== null && this.state.continuedIn !== null;
      this.#follow();
      if (isBehindEnd) continue;
      this.#continueWhenLong();
      await flushed;
      return { id: stored.id, at: stored.at, refusal };
    }
  }

  #continueWhenLong(): void {
    const limit = Math.max(this.#options.maxBytes ?? MAX_BYTES, 4 * this.#snapshotBytes);
    if (this.#log.size <= limit || this.state.session === 'deleted') return;
    const current = logFiles(this.#options.directory).length;
    this.#log.append({ type: 'continued', next: `log.${current + 1}.jsonl` });
    this.#follow();
    this.#refusals.clear();
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}
