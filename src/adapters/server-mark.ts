// Where the shell beside the guard looks whether the server of a session answers: a file that says which process that is,
// and whose time lies ahead for as long as it does.

import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** So often the time is moved ahead. */
const BEAT_MS = 2000;
/** So far: a server that is stopped, or caught in something, lets it pass. */
const AHEAD_MS = 6000;

export type ServerMarks = {
  /** Writes down that this process answers the hooks of a session. */
  readonly announce: (session: string) => void;
  readonly close: () => void;
};

/** @param main the checkout that holds the project's teams */
export function serverMarks(main: string): ServerMarks {
  const words = `${process.pid} ${beginOf(process.pid)}\n`;
  const marks = new Set<string>();
  let beat: NodeJS.Timeout | undefined;
  const renew = (mark: string) => {
    const ahead = new Date(Date.now() + AHEAD_MS);
    utimesSync(mark, ahead, ahead);
  };
  return {
    announce: (session) => {
      const mark = markOf(main, session);
      if (mark === null || marks.has(mark)) return;
      try {
        mkdirSync(dirname(mark), { recursive: true });
        writeFileSync(mark, words);
        renew(mark);
        marks.add(mark);
        beat ??= setInterval(() => {
          for (const one of marks)
            try {
              if (readFileSync(one, 'utf8') !== words) throw new Error('another server answers');
              renew(one);
            } catch {
              // With the next hook that comes it is written anew.
              marks.delete(one);
            }
        }, BEAT_MS).unref();
      } catch {
        // Without it the shell has the compiled guard look as well.
      }
    },
    close: () => {
      clearInterval(beat);
      for (const mark of marks) rmSync(mark, { force: true });
    },
  };
}

/** When a process began, as the kernel counts; `-` where no file says it. */
function beginOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Field 22; the second one is the name in parentheses, which may hold spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
  } catch {
    return '-';
  }
}

function markOf(main: string, session: string): string | null {
  return /^[\w-]+$/.test(session) && existsSync(join(main, '.tool'))
    ? join(main, '.tool', 'state', `server-${session}`)
    : null;
}
