// Tells people by a command and a webhook what became of an issue, each time at most once: a failure is logged and nothing is repeated.

import { dirname } from 'node:path';
import type { Logger } from '../../base/ports.ts';
import { runProgram } from '../../base/processes/program.ts';
import { refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { lastLines, oneLine } from '../../base/rules/text.ts';
import type { Journal } from '../ports.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { type Notification, notificationOf } from '../rules/notification.ts';
import type { Workflow } from '../rules/workflow.ts';

export type NotifierOptions = {
  readonly workflow: () => Workflow;
  readonly log: Logger;
  /** The person's environment without any hosting credential, as hooks get it. */
  readonly hookEnv: () => Readonly<Record<string, string>>;
  /** Names the proxy. */
  readonly env: Environment;
  /** Certificate authorities beside those of Node. */
  readonly authorities: readonly string[];
  /** For each of the two. */
  readonly timeoutMs?: number;
};

const TIMEOUT_MS = 10_000;
const MAX_OUTPUT = 16 * 1024;
const GRACE_MS = 1_000;

/** The cause names the trouble, the error around it says only that the fetch failed. */
function wordsOf(error: unknown): string {
  return oneLine(messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error), 240);
}

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #timeoutMs: number;
  readonly #pending = new Set<Promise<void>>();

  constructor(options: NotifierOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  }

  /** The same journal; what is written to it is told once it is on disk. */
  watch(journal: Journal): Journal {
    return {
      get state() {
        return journal.state;
      },
      append: (record) => {
        const due = notificationOf(journal.state, record);
        const stored = journal.append(record);
        if (due !== null)
          stored.then(
            () => this.send(due),
            () => undefined,
          );
        return stored;
      },
      close: () => journal.close(),
    };
  }

  send(what: Notification): void {
    const { command, webhook } = this.#options.workflow().notify;
    const text = `${JSON.stringify(what)}\n`;
    if (command !== null) this.#attempt(what, 'notify.command', () => this.#run(command, text));
    if (webhook !== null) this.#attempt(what, 'notify.webhook', () => this.#post(webhook, text));
  }

  #attempt({ issue, kind }: Notification, setting: string, act: () => Promise<void>): void {
    const attempt = act()
      .catch((error: unknown) => {
        const what = refusal(WORK_CODES.notification_failed, { issue, setting, kind, said: wordsOf(error) });
        this.#options.log.log('warn', 'serve', what, { issue });
      })
      .finally(() => this.#pending.delete(attempt));
    this.#pending.add(attempt);
  }

  async #run(command: string, input: string): Promise<void> {
    const { hookEnv, workflow } = this.#options;
    const { timedOut, exitCode, signal, stderr } = await runProgram('/bin/sh', ['-c', command], {
      cwd: dirname(workflow().path),
      env: hookEnv(),
      input,
      timeoutMs: this.#timeoutMs,
      graceMs: GRACE_MS,
      maxBytes: MAX_OUTPUT,
    });
    if (timedOut) throw new Error(`it took longer than ${this.#timeoutMs / 1000} s`);
    if (exitCode === 0) return;
    const how = exitCode === null ? `ended by ${signal ?? 'a signal'}` : `exit code ${exitCode}`;
    throw new Error([how, lastLines(stderr, 2)].filter((words) => words !== '').join(': '));
  }

  async #post(address: string, body: string): Promise<void> {
    const { authorities, env } = this.#options;
    // Late, since they take long to load: at its start the daemon has git fetch first.
    const [{ fetch }, { dispatcherFor }] = await Promise.all([
      import('../../base/undici.ts'),
      import('../github/client.ts'),
    ]);
    const dispatcher = dispatcherFor({ apiUrl: address, authorities, env }, this.#timeoutMs);
    try {
      const { ok, status } = await fetch(address, {
        ...{ method: 'POST', body, redirect: 'manual', dispatcher },
        headers: { 'content-type': 'application/json', 'user-agent': 'toolcrew' },
        signal: AbortSignal.timeout(this.#timeoutMs),
      });
      if (!ok) throw new Error(`it answered ${status}`);
    } finally {
      await dispatcher.destroy();
    }
  }

  /** Resolves when all was told or has failed, which the time limit bounds. */
  async close(): Promise<void> {
    await Promise.all(this.#pending);
  }
}
