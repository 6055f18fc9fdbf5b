// Mark of a process that serves many repositories: its own git carries it, not that of a repository.

import { createHash } from 'node:crypto';
import type { Logger } from '../base/ports.ts';
import { endProcessesOfRun, RUN_VARIABLE } from '../base/processes/processes.ts';
import { refusal } from '../base/rules/codes.ts';
import { SETTINGS_VARIABLE } from '../git/git.ts';
import { COMPOSE_CODES } from './rules/compose-codes.ts';

export const LEFTOVER_GRACE_MS = 3_000;

/** The mark of a path. Ends what an earlier process left with it. */
export async function takeMark(path: string, log: Logger): Promise<string> {
  const mark = createHash('sha256').update(path).digest('hex').slice(0, 12);
  const left = await endProcessesOfRun(`${mark}.`, LEFTOVER_GRACE_MS);
  if (left > 0) log.log('warn', 'serve', refusal(COMPOSE_CODES.leftovers_ended, { count: left }));
  return mark;
}

/** @param settings the file that the environment's git reads in place of the person's */
export function setMark(env: NodeJS.ProcessEnv, mark: string, settings: string): void {
  env[RUN_VARIABLE] = `${mark}.daemon`;
  env[SETTINGS_VARIABLE] = settings;
}

export class ProcessMark {
  readonly #env: NodeJS.ProcessEnv;
  readonly #path: string;
  readonly #log: Logger;
  #taken: Promise<void> | null = null;

  /** @param path of the workflow file */
  constructor(env: NodeJS.ProcessEnv, path: string, log: Logger) {
    this.#env = env;
    this.#path = path;
    this.#log = log;
  }

  /**
   * Marks the process, once. To be called with the lock of a repository: without one, the process that has the locks
   * would lose its git.
   */
  take(settings: string): Promise<void> {
    this.#taken ??= takeMark(this.#path, this.#log).then((mark) => setMark(this.#env, mark, settings));
    return this.#taken;
  }
}
