// Commands of operators on a machine whose coordinator waits for another one: they reach whoever acts.

import type { Logger } from '../base/ports.ts';
import type { RuntimeDir } from '../base/processes/runtime-dir.ts';
import { refusal } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import { readStateDirHolder } from '../daemon/journal/state-dir.ts';
import { WORK_CODES } from '../daemon/rules/codes/work-codes.ts';
import { openControlSocket, readControlPlace, removeControlPlace } from '../daemon/runners/control-socket.ts';
import type { Source } from '../web/source.ts';

/** Repository that is open, about to be, or neither. */
type Member = {
  readonly name: string;
  readonly workflow: () => { readonly stateDir: string };
  readonly opened: unknown;
  readonly starting: unknown;
};

export type WaitingCommandsOptions = {
  readonly members: () => readonly Member[];
  /** Passes orders on. */
  readonly source: Pick<Source, 'steer' | 'tell'>;
  readonly runtime: RuntimeDir;
  readonly log: Logger;
};

type Place = { readonly stateDir: string; readonly socket: string | undefined; readonly close: () => Promise<void> };

export class WaitingCommands {
  readonly #options: WaitingCommandsOptions;
  readonly #places = new Map<Member, Place>();
  /** Where none could be opened, and that was said. */
  readonly #failed = new Set<string>();
  #work = Promise.resolve();
  #isQueued = false;
  #isOver = false;

  constructor(options: WaitingCommandsOptions) {
    this.#options = options;
  }

  /** Opens and closes what the members need by now. */
  readonly sync = (): Promise<void> => {
    if (this.#isOver || this.#isQueued) return this.#work;
    this.#isQueued = true;
    this.#work = this.#work.then(() => {
      this.#isQueued = false;
      return this.#sync(this.#options.members());
    });
    return this.#work;
  };

  async #sync(members: readonly Member[]): Promise<void> {
    for (const [member, { stateDir, socket, close }] of this.#places) {
      if (member.opened === null && members.includes(member)) continue;
      this.#places.delete(member);
      await close();
      // The file of a repository that is opened here stays.
      if (readControlPlace(stateDir)?.socket === socket) await this.#try(stateDir, () => removeControlPlace(stateDir));
    }
    for (const member of members)
      if (this.#lacks(member)) await this.#try(member.workflow().stateDir, () => this.#open(member));
  }

  /** What cannot be done now is said once, and tried again when the repository was. */
  async #try(stateDir: string, act: () => void | Promise<void>): Promise<void> {
    try {
      await act();
      this.#failed.delete(stateDir);
    } catch (error) {
      const why = refusal(WORK_CODES.background_task_failed, {
        task: 'the socket for commands',
        said: messageOf(error),
      });
      if (!this.#failed.has(stateDir)) this.#options.log.log('warn', 'socket', why);
      this.#failed.add(stateDir);
    }
  }

  #lacks(member: Member): boolean {
    if (member.opened !== null || member.starting !== null) return false;
    const { stateDir } = member.workflow();
    // A repository that was opened here and closed again has removed the file.
    if (this.#places.has(member) && readControlPlace(stateDir) !== undefined) return false;
    // Another process takes its commands itself.
    return readStateDirHolder(stateDir) === undefined;
  }

  async #open(member: Member): Promise<void> {
    const { runtime, source } = this.#options;
    const { stateDir } = member.workflow();
    await this.#places.get(member)?.close();
    this.#places.delete(member);
    const close = await openControlSocket(runtime, stateDir, async ({ issue, ...given }) => {
      // `tool explain` reads the journal of whoever acts.
      if (given.command === 'show') return { details: null };
      if (given.command === 'tell') return source.tell(issue, given.text, member.name);
      return source.steer(given.command, issue, member.name);
    });
    this.#places.set(member, { stateDir, socket: readControlPlace(stateDir)?.socket, close });
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#work;
    await this.#sync([]);
  }
}
