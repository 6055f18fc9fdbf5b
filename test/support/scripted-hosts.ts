// Teammates that are the real host program with a played model: each does what the demo's script says, by the host's own tools.

import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import type { TeammateScript } from '../../src/cli/agents/agent-teammate.ts';
import { TASK_CODES } from '../../src/team/rules/codes/tasks-codes.ts';
import { codeIn } from './codes.ts';
import { fields } from './forge.ts';
import type { Outcome } from './model-server.ts';
import { type Conversation, type Part, type Play, playAgents } from './played-agents.ts';
import { answerOf, rows } from './team-host.ts';

type Steps = NonNullable<NonNullable<TeammateScript[string]>['tasks']>[number]['steps'];

/** Something a test wants to see on the way; done once, after the first task is claimed. */
export type Aside = (agent: Teammate) => Promise<void>;

export class Teammate {
  readonly agent: Conversation;
  readonly #part: NonNullable<TeammateScript[string]>;
  readonly #aside: Aside | undefined;
  readonly #heard = new Set<string>();
  readonly #mail: string[] = [];
  #isAsideDone = false;
  #cwd = '';

  constructor(agent: Conversation, part: NonNullable<TeammateScript[string]>, aside: Aside | undefined) {
    this.agent = agent;
    this.#part = part;
    this.#aside = aside;
  }

  /** Mail comes with prompts and with the results of tools; each message once. */
  #hear(): void {
    for (const [, seq = '', type = ''] of this.agent.news.text.matchAll(/#(\d+) from \S+, (\w+)/g)) {
      if (!this.#heard.has(seq)) this.#mail.push(type);
      this.#heard.add(seq);
    }
  }

  async use(name: string, input: unknown): Promise<Outcome> {
    const outcome = await this.agent.use(name, input);
    this.#hear();
    return outcome;
  }

  team(tool: string, input: unknown): Promise<Outcome> {
    return this.use(`mcp__team__${tool}`, input);
  }

  /** A path in its worktree, as the host tells it. */
  path(file: string): string {
    return join(this.#cwd, file);
  }

  async #do(steps: Steps): Promise<void> {
    for (const { write, call } of steps) {
      if (write !== undefined) {
        const path = this.path(write.path);
        // Hosts overwrite nothing that they have not read.
        await this.use('Read', { file_path: path });
        const written = await this.use('Write', { file_path: path, content: write.text });
        assert.ok(!written.isError, written.text);
      }
      if (call !== undefined) answerOf(await this.team(call.tool, call.input));
    }
  }

  async #readMail(): Promise<void> {
    for (let type = this.#mail.shift(); type !== undefined; type = this.#mail.shift())
      await this.#do(this.#part.mail?.[type] ?? []);
  }

  /** A task that was begun ahead is completed once what comes first is: until then its turn is over. */
  async #complete(input: unknown): Promise<Outcome> {
    for (;;) {
      const done = await this.team('TaskUpdate', input);
      if (!done.isError || codeIn(done.text) !== TASK_CODES.task_waits.code) return done;
      await this.agent.say('I wait for what comes first.');
      this.#hear();
    }
  }

  async turn(): Promise<void> {
    // Of all that the host says of itself, its working directory.
    this.#cwd ||= /[Ww]orking directory: (\S+)/.exec(this.agent.request.raw.replaceAll('\\n', '\n'))?.[1] ?? '';
    this.#hear();
    await this.#readMail();
    const { tasks } = answerOf(await this.team('TaskList', {}));
    const task = rows(tasks).find(
      ({ owner, status }) => owner === this.agent.who && (status === 'in_progress' || status === 'pending'),
    );
    if (task === undefined) return;
    const { taskId } = task;
    const subject = String(task.subject);
    answerOf(await this.team('TaskUpdate', { taskId, status: 'in_progress' }));
    if (!this.#isAsideDone) {
      this.#isAsideDone = true;
      await this.#aside?.(this);
    }
    const plan = this.#part.tasks.find((one) => subject.includes(one.subject));
    assert.ok(plan !== undefined, `${this.agent.who} has nothing in its script for "${subject}"`);
    await this.#do(plan.steps);
    const done = await this.#complete({ taskId, status: 'completed', result: plan.result ?? 'done' });
    if (done.isError) {
      assert.ok(plan.mend !== undefined, done.text);
      await this.#do(plan.mend);
      assert.equal(
        fields(answerOf(await this.team('TaskUpdate', { taskId, status: 'completed' }))).status,
        'completed',
      );
    }
    await this.#readMail();
  }
}

/** @param asides by the names of the teammates */
export function scriptedHosts(script: TeammateScript, asides: Readonly<Record<string, Aside>>): Play {
  const parts = Object.entries(script).map(([name, part]): [string, Part] => [
    name,
    async (agent) => {
      const teammate = new Teammate(agent, part, asides[name]);
      for (;;) {
        await teammate.turn();
        await agent.say('That was my turn.');
      }
    },
  ]);
  return playAgents(Object.fromEntries(parts));
}
