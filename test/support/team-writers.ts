// Processes that write to one team's log at the same time.

import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { FileTeamLog } from '../../src/team/log/team-log.ts';
import { rec } from './team.ts';

/** Begins a log in the directory: a team of these members, with so many tasks. */
export async function beginLog(directory: string, members: readonly string[] = [], tasks = 0): Promise<void> {
  const log = new FileTeamLog({ directory, now: Date.now });
  const records = [
    rec('created'),
    ...members.flatMap((name) => [rec('member_registered', { name, max: 999 }), rec('member_spawned', { name })]),
    ...Array.from({ length: tasks }, () => rec('task_created')),
  ];
  for (const record of records) {
    const { refusal } = await log.append(record, { flush: false });
    if (refusal !== null) throw new Error(refusal);
  }
  await log.close();
}

const start = (args: readonly string[]) => execa(process.execPath, args, { buffer: false, reject: false });

export class Writer {
  readonly child: ReturnType<typeof start>;
  readonly lines: string[] = [];
  readonly ended: Promise<number | undefined>;
  #waiting: (() => void) | undefined;

  constructor(program: string, args: readonly string[]) {
    this.child = start([program, ...args]);
    // Who is killed leaves a pipe that nobody reads.
    this.child.stdin.on('error', () => undefined);
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      this.lines.push(line);
      this.#waiting?.();
    });
    this.ended = this.child.then(({ exitCode }) => exitCode);
  }

  tell(line: string): void {
    this.child.stdin.write(`${line}\n`);
  }

  /** Resolves when it has said so many lines; rejects when it ended before. */
  async until(count: number): Promise<void> {
    const isOver = this.ended.then(() => true);
    while (this.lines.length < count) {
      const more = new Promise<boolean>((resolve) => {
        this.#waiting = () => resolve(false);
      });
      if (this.lines.length < count && (await Promise.race([more, isOver])) && this.lines.length < count)
        throw new Error(`it ended after ${this.lines.length} of ${count} lines`);
    }
  }

  end(): Promise<number | undefined> {
    this.child.stdin.end();
    return this.ended;
  }
}

/** Runs writers of these arguments at once; throws when one of them fails. */
export async function runWriters(program: string, args: readonly (readonly string[])[]): Promise<void> {
  const codes = await Promise.all(args.map((one) => new Writer(program, one).end()));
  if (codes.some((code) => code !== 0)) throw new Error(`writers ended with ${codes.join(', ')}`);
}
