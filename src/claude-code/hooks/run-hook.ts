// One hook from its input to its exit code: 0 accepts and 2 rejects; some reject with 0 and JSON. What answers is the
// team server that stays; without one it is loaded here, when there is something to answer.

import { readFileSync, writeSync } from 'node:fs';
import type { Environment } from '../../base/rules/environment.ts';
import { errorCode } from '../../base/rules/errors.ts';
import { findProject } from '../../git/project.ts';
import { readTeamNames, teamsDirectory } from '../../team/log/team-names.ts';
import { type HostEvent, type HostEventName, MAY_WAIT } from '../../team/operations/host-event.ts';
import { isDuplicateHook } from '../duplicate-hooks.ts';
import { isInputOfHost, processAncestry } from '../host-above.ts';
import { beginsTeam } from '../rules/tool-kind.ts';
import { askServer } from './hook-channel.ts';
import type { Respond } from './hook-reply.ts';
import { type Reply, readReply } from './hook-reply.ts';
import { type ParsedEvent, parseEvent } from './parse-event.ts';

export type Hook = {
  readonly event: HostEventName;
  readonly load: () => Promise<{ readonly respond: Respond }>;
  /** Whether it has something to say about that event; absent: where a team is. */
  readonly concerns?: (event: HostEvent, hasTeam: () => boolean) => boolean;
  /** Whether it answers though the project has hooks of its own: what both say alike, and where silence would undo it. */
  readonly saysWhenDuplicate?: (event: HostEvent) => boolean;
  /** A failure of its own stops what it was asked about: for what must not go through unseen. */
  readonly failsClosed?: (event: HostEvent) => boolean;
};

/** Runs a hook on standard input; sets the exit code. */
export function runHook(hook: Hook): void {
  // Whatever goes wrong is said and decided in there.
  void run(hook);
}

/** What came on standard input; nothing where that cannot be read, which is no event. */
function readInput(): string {
  try {
    return readFileSync(0, 'utf8');
  } catch {
    return '';
  }
}

/** Where the event came about; looked for once, and not before it is asked for. */
class Scene {
  readonly #event: HostEvent;
  #main: string | undefined;
  #hasTeam: boolean | undefined;

  constructor(event: HostEvent) {
    this.#event = event;
  }

  /** The checkout that holds the project's teams. */
  get main(): string {
    this.#main ??= findProject(this.#event.cwd, process.env.CLAUDE_PROJECT_DIR).main;
    return this.#main;
  }

  get hasTeam(): boolean {
    this.#hasTeam ??= readTeamNames(teamsDirectory(this.main)).length > 0;
    return this.#hasTeam;
  }
}

function isConcerned({ concerns }: Hook, event: HostEvent, scene: Scene): boolean {
  return concerns === undefined ? scene.hasTeam : concerns(event, () => scene.hasTeam);
}

/**
 * Hosts name the project to their hooks, and to no shell of an agent, and speak to them through a socket: in a shell nobody but
 * the agent itself speaks, and what it says of a team or of the user's word is nothing.
 */
function isForged(event: HostEvent, scene: Scene, env: Environment): boolean {
  const isOfShell = env.CLAUDECODE !== undefined && env.CLAUDE_PROJECT_DIR === undefined;
  if (!isOfShell && isInputOfHost()) return false;
  return scene.hasTeam || beginsTeam(event.tool) || /^\s*(yes,?\s+)?approve/i.test(event.prompt);
}

/** What is never changed, to wait on. */
const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

/** All of it: a pipe that does not block takes what fits into it, and nothing when it is full. */
function writeLine(fd: number, line: string): void {
  let rest = Buffer.from(`${line}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') throw error;
      Atomics.wait(SLEEPER, 0, 0, 1);
    }
  }
}

/** Does what the answer says, and ends at once: winding down would be a tenth of what a hook takes. */
function finish({ said, printed, code }: Reply): never {
  try {
    for (const line of said) writeLine(2, line);
  } catch {
    // Where nobody hears it, the exit code still counts.
  }
  try {
    if (printed !== null) writeLine(1, printed);
  } catch {
    // What was to be heard may have been a rejection.
    process.exit(2);
  }
  process.exit(code);
}

const NOTHING: Reply = { said: [], printed: null, code: 0 };

/** So long the server may take for a decision that starts no program. */
const PATIENCE_MS = 5000;

/** Checks have their own deadline, which is below that of the host. */
const CHECKS_MS = 590_000;

/** Parts of names in lower case. A regular expression would be compiled in each process, which takes longer. */
const SECRET = [
  'token',
  'secret',
  'password',
  'passwd',
  'api_key',
  'apikey',
  'credential',
  'private_key',
  'privatekey',
];

function isSecretName(name: string): boolean {
  const lower = name.toLowerCase();
  return SECRET.some((part) => lower.includes(part));
}

/** What a hook asks the server that stays; the answer is a `Reply`. */
export type HookQuestion = {
  readonly hook: HostEventName;
  /** Its standard input. */
  readonly input: string;
  readonly cwd: string;
  readonly env: Environment;
};

/** undefined where no server answers. The user's own word goes no way round. */
function askedOf({ event }: Hook, input: string, main: string, all: Environment): Reply | undefined {
  if (event === 'UserPromptSubmit') return undefined;
  // What a command may name is asked with; what only a service is to know stays here.
  const env = Object.fromEntries(Object.entries(all).filter(([name]) => !isSecretName(name)));
  const question: HookQuestion = { hook: event, input, cwd: process.cwd(), env };
  return readReply(askServer(main, question, event === 'TaskCompleted' ? CHECKS_MS : PATIENCE_MS));
}

/** Below the 600 s after which the host goes on without an answer. */
const WAIT_MS = 570_000;
const ASK_AGAIN_MS = 1_000;

/** The answer, once there is one; after `WAIT_MS` whatever holds then. */
async function answered(hook: Hook, input: string, parsed: ParsedEvent, main: string): Promise<Reply> {
  let above: string | undefined;
  for (const until = Date.now() + WAIT_MS; ; ) {
    const env: Environment = Date.now() < until ? { ...process.env, [MAY_WAIT]: '1' } : process.env;
    const reply = askedOf(hook, input, main, env) ?? (await (await hook.load()).respond(parsed, env));
    if (reply.wait !== true) return reply;
    // Nobody reads the answer once the host is gone.
    above ??= processAncestry();
    if (processAncestry() !== above) return NOTHING;
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  }
}

/** Ends the process with one line for people. */
function endWith(line: string, code: 0 | 2 = 0): never {
  return finish({ said: [line], printed: null, code });
}

/** A rejection goes by the exit code, which every version heeds. */
async function fail({ event: name, failsClosed }: Hook, event: HostEvent, error: unknown): Promise<never> {
  const isClosed = failsClosed?.(event) === true;
  try {
    const { failedWords, undecidedWords } = await import('./hook-words.ts');
    return isClosed ? endWith(undecidedWords(name, error), 2) : endWith(failedWords(name, error));
  } catch {
    // An incomplete program has no words, and still rejects.
    return endWith(`toolcrew: ${name}: ${String(error)}`, isClosed ? 2 : 0);
  }
}

async function run(hook: Hook): Promise<void> {
  const input = readInput();
  const parsed = parseEvent(input, hook.event, process.cwd());
  if (!parsed.ok) return endWith((await import('./hook-words.ts')).invalidWords(hook.event, parsed.invalid));
  const { event } = parsed;
  const scene = new Scene(event);
  try {
    if (
      hook.saysWhenDuplicate?.(event) !== true &&
      (await isDuplicateHook(process.env, process.cwd(), event.transcript))
    ) {
      // Told to people alone: the agent is told by the hooks that stay.
      if (hook.event !== 'SessionStart') return finish(NOTHING);
      const systemMessage = (await import('./hook-words.ts')).duplicateWords();
      return finish({ ...NOTHING, printed: JSON.stringify({ systemMessage }) });
    }
    if (isForged(event, scene, process.env)) {
      const { forgedWords } = await import('./hook-words.ts');
      return endWith(forgedWords(hook.event), hook.failsClosed?.(event) === true ? 2 : 0);
    }
    return finish(isConcerned(hook, event, scene) ? await answered(hook, input, parsed, scene.main) : NOTHING);
  } catch (error) {
    return fail(hook, event, error);
  }
}
