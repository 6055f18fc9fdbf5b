// Liveness file of a session's resident server, read by guard.sh: process id, start time, and path of the transcript.
// Its mtime is in the future while the server responds.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasExited } from '../base/processes/processes.ts';

const PREFIX = 'server-';
/** Interval between updates of the mtime. */
const BEAT_MS = 2000;
/** Lead of the mtime over the clock. A stopped or blocked server lets it expire. */
const AHEAD_MS = 6000;

/** Most sessions of killed servers to list; a server that exits by itself removes its file. */
const LEFT_MOST = 3;

export type LeftSession = { readonly session: string; readonly transcript: string };

export type ServerLiveness = {
  /** Writes the file: this process answers the hooks of the session. */
  readonly announce: (session: string, transcript: string | null) => void;
  /** Whether a hook has reached this process. */
  readonly isReached: () => boolean;
  /** Sessions whose server was killed, the latest first. */
  readonly left: () => readonly LeftSession[];
  readonly close: () => void;
};

/** @param main the checkout that holds the project's teams */
export function createServerLiveness(main: string): ServerLiveness {
  const own = `${process.pid} ${beginOf(process.pid)}`;
  /** File contents by path. */
  const contents = new Map<string, string>();
  let isReached = false;
  let beat: NodeJS.Timeout | undefined;
  const renew = (file: string) => {
    const ahead = new Date(Date.now() + AHEAD_MS);
    utimesSync(file, ahead, ahead);
  };
  return {
    announce: (session, transcript) => {
      isReached = true;
      const file = livenessFile(main, session);
      if (file === null || contents.has(file)) return;
      const words = `${own}\n${transcript ?? ''}\n`;
      try {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, words);
        renew(file);
        contents.set(file, words);
        beat ??= setInterval(() => {
          for (const [one, written] of contents)
            try {
              if (readFileSync(one, 'utf8') !== written) throw new Error('another server answers');
              renew(one);
            } catch {
              // The next hook writes the file again.
              contents.delete(one);
            }
        }, BEAT_MS).unref();
      } catch {
        // Without the file, guard.sh also runs the compiled guard.
      }
    },
    isReached: () => isReached,
    left: () => leftIn(stateOf(main)),
    close: () => {
      clearInterval(beat);
      for (const file of contents.keys()) rmSync(file, { force: true });
    },
  };
}

/** Start time of a process in clock ticks since boot; `-` without /proc. */
function beginOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Field 22; the second one is the name in parentheses, which may hold spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
  } catch {
    return '-';
  }
}

function livenessFile(main: string, session: string): string | null {
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
      const file = join(state, name);
      try {
        const [owner = '', transcript = ''] = readFileSync(file, 'utf8').split('\n');
        const [pid = '', began = ''] = owner.split(' ');
        const hasEnded = hasExited(Number(pid)) || beginOf(Number(pid)) !== began;
        const left = { session: name.slice(PREFIX.length), transcript, at: statSync(file).mtimeMs };
        return hasEnded && transcript !== '' ? [left] : [];
      } catch {
        // The server has just exited and removed its file.
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
