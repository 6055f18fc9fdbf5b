// Where the shell beside the guard looks whether the server of a session answers: a file that says which process that is,
// and whose time lies ahead for as long as it does. Its second line names the session's transcript.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isOver } from './processes.ts';

const PREFIX = 'server-';
/** So often the time is moved ahead. */
const BEAT_MS = 2000;
/** So far: a server that is stopped, or caught in something, lets it pass. */
const AHEAD_MS = 6000;

/** So many sessions of servers that were killed are looked at; a server that ends by itself leaves none. */
const LEFT_MOST = 3;

export type LeftSession = { readonly session: string; readonly transcript: string };

export type ServerMarks = {
  /** Writes down that this process answers the hooks of a session. */
  readonly announce: (session: string, transcript: string | null) => void;
  /** Whether a hook has reached this process. */
  readonly isReached: () => boolean;
  /** Sessions whose server was killed, the latest first. */
  readonly left: () => readonly LeftSession[];
  readonly close: () => void;
};

/** @param main the checkout that holds the project's teams */
export function serverMarks(main: string): ServerMarks {
  const own = `${process.pid} ${beginOf(process.pid)}`;
  /** What stands in each. */
  const marks = new Map<string, string>();
  let isReached = false;
  let beat: NodeJS.Timeout | undefined;
  const renew = (mark: string) => {
    const ahead = new Date(Date.now() + AHEAD_MS);
    utimesSync(mark, ahead, ahead);
  };
  return {
    announce: (session, transcript) => {
      isReached = true;
      const mark = markOf(main, session);
      if (mark === null || marks.has(mark)) return;
      const words = `${own}\n${transcript ?? ''}\n`;
      try {
        mkdirSync(dirname(mark), { recursive: true });
        writeFileSync(mark, words);
        renew(mark);
        marks.set(mark, words);
        beat ??= setInterval(() => {
          for (const [one, written] of marks)
            try {
              if (readFileSync(one, 'utf8') !== written) throw new Error('another server answers');
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
    isReached: () => isReached,
    left: () => leftIn(stateOf(main)),
    close: () => {
      clearInterval(beat);
      for (const mark of marks.keys()) rmSync(mark, { force: true });
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
    ? join(stateOf(main), `${PREFIX}${session}`)
    : null;
}

function stateOf(main: string): string {
  return join(main, '.tool', 'state');
}

function leftIn(state: string): readonly LeftSession[] {
  return namesIn(state)
    .flatMap((name) => {
      const mark = join(state, name);
      try {
        const [owner = '', transcript = ''] = readFileSync(mark, 'utf8').split('\n');
        const [pid = '', began = ''] = owner.split(' ');
        const hasEnded = isOver(Number(pid)) || beginOf(Number(pid)) !== began;
        const left = { session: name.slice(PREFIX.length), transcript, at: statSync(mark).mtimeMs };
        return hasEnded && transcript !== '' ? [left] : [];
      } catch {
        // Its server has just ended by itself.
        return [];
      }
    })
    .sort((one, other) => other.at - one.at)
    .slice(0, LEFT_MOST)
    .map(({ session, transcript }) => ({ session, transcript }));
}

function namesIn(state: string): readonly string[] {
  try {
    return readdirSync(state).filter((name) => name.startsWith(PREFIX));
  } catch {
    return [];
  }
}
