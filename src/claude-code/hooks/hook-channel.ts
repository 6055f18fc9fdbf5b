// Hooks ask the team server that stays: it has loaded and read already what each of them would have to. A question is a
// file, its name goes through a pipe, the answer is a file again. Node's sockets would take longer to load than all of that.

import {
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { packageVersion } from '../../base/package-version.ts';
import type { runProgram } from '../../base/processes/program.ts';

/** So long a server may take to take a question up. */
const ATTENTION_MS = 1000;
/** So often it is looked whether the answer is there, and whether the server still is. */
const LOOK_MS = 0.1;
/** What took so long already may take that much longer to be seen: checks take minutes. */
const LOOK_PART = 1 / 40;
const LOOK_MAX_MS = 25;
const ALIVE_MS = 100;
/** So long an answer lies there for a hook that may have ended. */
const LEFT_MS = 60_000;
/** What is never changed, to wait on. */
const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

/** Channels of servers of this version: another version may answer otherwise. */
function prefix(): string {
  return `hooks-${packageVersion()}-`;
}

function stateDirectory(main: string): string {
  return join(main, '.tool', 'state');
}

/** Whether a text is the id of a process. */
function isNumber(text: string): boolean {
  return String(Number(text)) === text;
}

function channelsIn(directory: string): readonly string[] {
  try {
    // Not those of a version whose name begins like this one's.
    const names = readdirSync(directory).filter(
      (name) => name.startsWith(prefix()) && isNumber(name.slice(prefix().length)),
    );
    return names.map((name) => join(directory, name));
  } catch {
    return [];
  }
}

const questionOf = (channel: string, id: string): string => join(channel, `${id}.question`);
const answerOf = (channel: string, id: string): string => join(channel, `${id}.answer`);

/** Opens the pipe for writing, which fails when nobody reads it. */
function bell(channel: string): number | undefined {
  try {
    const fd = openSync(join(channel, 'bell'), constants.O_WRONLY | constants.O_NONBLOCK);
    if (fstatSync(fd).isFIFO()) return fd;
    closeSync(fd);
  } catch {
    // Nobody reads it, or it is not there.
  }
  return undefined;
}

function isAttended(channel: string): boolean {
  const fd = bell(channel);
  if (fd === undefined) return false;
  closeSync(fd);
  return true;
}

/** Takes away what is there; false where that was not possible. */
function tryUnlink(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It stays; nobody attends it.
  }
}

/** JSON of a text; null: it is none. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The answer, which is gone with that; undefined: it is not there yet. */
function takeAnswer(path: string): unknown {
  // An error costs more than the question.
  if (!existsSync(path)) return undefined;
  try {
    const text = readFileSync(path, 'utf8');
    unlinkSync(path);
    return jsonOf(text);
  } catch {
    return undefined;
  }
}

/** Writes a new file in half of the time of `writeFileSync`. */
function writeNew(path: string, text: string): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    let rest = Buffer.from(text);
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
  } finally {
    closeSync(fd);
  }
}

/** Lays the question down and rings; false where nobody is there. */
function ring(channel: string, id: string, question: string): boolean {
  const fd = bell(channel);
  if (fd === undefined) return false;
  try {
    writeNew(questionOf(channel, id), question);
    writeSync(fd, `${id}\n`);
    return true;
  } catch {
    tryUnlink(questionOf(channel, id));
    return false;
  } finally {
    closeSync(fd);
  }
}

/** Milliseconds. Node loads `performance` at its first use, which takes as long as the question. */
function elapsed(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function askOne(channel: string, question: string, patience: number): unknown {
  const id = `${process.pid}-${process.hrtime.bigint()}`;
  if (!ring(channel, id, question)) return undefined;
  const begin = elapsed();
  let looked = begin;
  let isHeard = false;
  for (;;) {
    const now = elapsed();
    Atomics.wait(SLEEPER, 0, 0, Math.min(Math.max(LOOK_MS, (now - begin) * LOOK_PART), LOOK_MAX_MS));
    const answer = takeAnswer(answerOf(channel, id));
    if (answer !== undefined) return answer;
    isHeard ||= !existsSync(questionOf(channel, id));
    const isLate = now - begin > (isHeard ? patience : ATTENTION_MS);
    const isLook = now - looked > ALIVE_MS;
    if (isLook) looked = now;
    const isLeft = isLook && !isAttended(channel);
    if (!isLate && !isLeft) continue;
    const isMine = tryUnlink(questionOf(channel, id));
    // The server was quicker: what it does by now is not to be done twice.
    if (isMine || isHeard || isLeft) return takeAnswer(answerOf(channel, id));
    isHeard = true;
  }
}

/**
 * Asks a server that stays in this project; undefined where none answers.
 * @param main the checkout that holds the project's teams
 * @param patience milliseconds until the answer to what was taken up
 */
export function askServer(main: string, question: unknown, patience: number): unknown {
  const text = JSON.stringify(question);
  for (const channel of channelsIn(stateDirectory(main))) {
    const answer = askOne(channel, text, patience);
    if (answer !== undefined && answer !== null) return answer;
  }
  return undefined;
}

async function serve(channel: string, id: string, answer: (question: unknown) => Promise<unknown>): Promise<void> {
  const taken = join(channel, `${id}.taken`);
  let question: unknown;
  try {
    renameSync(questionOf(channel, id), taken);
    question = jsonOf(readFileSync(taken, 'utf8'));
    // It holds what a tool is to write: that does not lie there while checks run.
    truncateSync(taken);
  } catch {
    return;
  }
  const said = await answer(question).catch(() => null);
  try {
    // Into the file of the question: to make another one takes longer than to answer.
    appendFileSync(taken, JSON.stringify(said ?? null));
  } catch {
    // On a full disk it stays without an answer, which the hook need not wait for.
  }
  try {
    renameSync(taken, answerOf(channel, id));
  } catch {
    return;
  }
  setTimeout(() => tryUnlink(answerOf(channel, id)), LEFT_MS).unref();
}

export type HookChannel = { readonly close: () => void };

/**
 * Answers hooks of the project for as long as this process lives; undefined where no pipe can be made.
 * @param answer rejects where it has none: the hook then finds its own
 * @param run given, since hooks themselves start no program
 */
export async function answerHooks(
  main: string,
  answer: (question: unknown) => Promise<unknown>,
  run: typeof runProgram,
): Promise<HookChannel | undefined> {
  const state = stateDirectory(main);
  const channel = join(state, `${prefix()}${process.pid}`);
  // Nobody looks for it there, and takes it for one that a killed server left.
  const begun = `${channel}.new`;
  const [{ Socket }, { createInterface }] = await Promise.all([import('node:net'), import('node:readline')]);
  try {
    mkdirSync(state, { recursive: true });
    // What killed servers left, and what was left under this very number.
    for (const other of channelsIn(state)) if (!isAttended(other)) removeTree(other);
    removeTree(begun);
    mkdirSync(begun, { mode: 0o700 });
  } catch {
    return undefined;
  }
  try {
    // Where it makes none, the next line throws.
    await run('mkfifo', ['-m', '600', join(begun, 'bell')], { cwd: begun, env: { PATH: process.env.PATH ?? '' } });
    // For writing as well: so it never ends when the last hook has rung.
    const fd = openSync(join(begun, 'bell'), constants.O_RDWR | constants.O_NONBLOCK);
    renameSync(begun, channel);
    const pipe = new Socket({ fd, readable: true, writable: false });
    pipe.on('error', () => undefined);
    createInterface({ input: pipe }).on('line', (id) => {
      if (/^[\d-]+$/.test(id)) void serve(channel, id, answer);
    });
    return {
      close: () => {
        pipe.destroy();
        removeTree(channel);
      },
    };
  } catch {
    for (const place of [begun, channel]) removeTree(place);
    return undefined;
  }
}
