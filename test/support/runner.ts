// Test bench for runners: the inputs of one attempt, and a report of its events, output and processes.

import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Isolation } from '../../src/agents/isolation.ts';
import type { AgentEvent, RunEnd, RunHooks, Runner, RunRequest } from '../../src/agents/ports.ts';
import { endProcessesOfRun, processesOfRun } from '../../src/base/processes/processes.ts';
import { RuntimeDir } from '../../src/base/processes/runtime-dir.ts';
import type { Workflow } from '../../src/daemon/rules/workflow.ts';
import { type Cleanup, finallyDo, tempDir } from './temp.ts';
import { workflowWith } from './world.ts';

export type Report = {
  readonly end: RunEnd;
  readonly events: readonly AgentEvent[];
  readonly output: string;
  readonly pids: readonly number[];
  /** Processes of the run that are left after its end. */
  readonly left: readonly number[];
};

export class Bench {
  readonly directory: string;
  readonly cwd: string;
  readonly stateDir: string;
  /** The person's environment. */
  readonly env: Record<string, string | undefined>;
  workflow: Workflow = workflowWith();
  readonly #runtime = new RuntimeDir();
  readonly #isolation: Isolation;
  readonly #t: Cleanup;

  private constructor(t: Cleanup, isolation: Isolation) {
    this.#t = t;
    this.#isolation = isolation;
    this.directory = tempDir(t);
    this.cwd = join(this.directory, 'work');
    this.stateDir = join(this.directory, 'state');
    this.env = { PATH: process.env.PATH ?? '', HOME: join(this.directory, 'person') };
    mkdirSync(this.cwd);
    finallyDo(t, () => this.#runtime.close());
  }

  static async create(t: Cleanup, isolation?: Isolation): Promise<Bench> {
    return new Bench(t, isolation ?? (await Isolation.probe('off', { readOnly: [], hidden: [], tables: '/nowhere' })));
  }

  /** Options of every runner. */
  get options() {
    const { stateDir, env } = this;
    return { workflow: () => this.workflow, stateDir, env, runtime: this.#runtime, isolation: this.#isolation };
  }

  async run(runner: Runner, request: Partial<RunRequest> = {}, hooks: Partial<RunHooks> = {}): Promise<Report> {
    const run = `test.${randomBytes(8).toString('hex')}`;
    finallyDo(this.#t, () => endProcessesOfRun(run, 0));
    const events: AgentEvent[] = [];
    const pids: number[] = [];
    let output = '';
    const end = await runner.run(
      {
        run,
        issue: 7,
        attempt: 1,
        cwd: this.cwd,
        prompt: 'the prompt',
        issueText: 'an issue',
        life: 1,
        resume: null,
        budgetUsd: null,
        env: {},
        ...request,
      },
      {
        nextTurn: async () => null,
        signal: new AbortController().signal,
        ...hooks,
        onStarted: async (pid) => {
          pids.push(pid);
          await hooks.onStarted?.(pid);
        },
        onEvent: (event) => {
          events.push(event);
          hooks.onEvent?.(event);
        },
        output: (text) => {
          output += text;
          hooks.output?.(text);
        },
      },
    );
    return { end, events, output, pids, left: processesOfRun(run) };
  }
}

/** Texts of the message events, in order. */
export function messagesOf(report: Report): string[] {
  return report.events.flatMap((event) => (event.type === 'message' ? [event.text] : []));
}
