// The teammate that needs no model: does what a script says for its tasks and its mail, and reaches the team through MCP alone.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { setVariables } from '../../base/rules/environment.ts';
import { failure, messageOf } from '../../base/rules/errors.ts';
import { connectTeam, type OperationAnswer, type TeamClient } from '../../claude-code/mcp/client.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';

/** Names the script's file to the teammate. */
export const SCRIPT_VARIABLE = 'TOOL_TEAMMATE_SCRIPT';

/** So often it is looked whether what its task waits for is completed. */
const WAIT_MS = 100;

const step = z.strictObject({
  /** Prints a line. */
  say: z.string().optional(),
  /** As long as a model would think, ms. */
  think_ms: z.number().int().min(0).optional(),
  /** Writes a file, from the project's root. */
  write: z.strictObject({ path: z.string(), text: z.string() }).optional(),
  /** Calls a tool of the team server; a refusal is printed, and the script goes on. */
  call: z.strictObject({ tool: z.string(), input: z.record(z.string(), z.unknown()) }).optional(),
});

const steps = z.array(step);

const scriptSchema = z.record(
  z.string(),
  z.strictObject({
    /** In their order: what is done for the first task whose subject holds these words. */
    tasks: z.array(
      z.strictObject({
        subject: z.string(),
        steps,
        /** After a rejected completion. */
        mend: steps.default([]),
        /** What came of it. */
        result: z.string().default('done'),
      }),
    ),
    /** What is done when a message of that type came. */
    mail: z.record(z.string(), steps).default({}),
  }),
);

const listed = z.object({
  tasks: z.array(
    z.object({
      taskId: z.string(),
      subject: z.string(),
      owner: z.string().nullable(),
      status: z.string(),
      blocked_by: z.array(z.string()).default([]),
    }),
  ),
});

type Step = z.output<typeof step>;
export type TeammateScript = z.input<typeof scriptSchema>;
type Part = z.output<typeof scriptSchema>[string];

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function readScript(name: string): Part {
  const path = process.env[SCRIPT_VARIABLE];
  if (path === undefined || !existsSync(path))
    throw failure(CLI_CODES.option_invalid, {
      option: SCRIPT_VARIABLE,
      expected: 'the path of a script',
      got: path ?? 'nothing',
    });
  const read = scriptSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')));
  if (!read.success) throw failure(CLI_CODES.script_invalid, { path, said: read.error.message });
  return read.data[name] ?? { tasks: [], mail: {} };
}

class Teammate {
  readonly #team: TeamClient;
  readonly #part: Part;

  constructor(team: TeamClient, part: Part) {
    this.#team = team;
    this.#part = part;
  }

  #call(name: string, input: Readonly<Record<string, unknown>>): Promise<OperationAnswer> {
    return this.#team.call(name, input);
  }

  async #do(all: readonly Step[]): Promise<void> {
    for (const one of all) {
      if (one.think_ms !== undefined) await delay(one.think_ms);
      if (one.say !== undefined) say(one.say);
      if (one.write !== undefined) {
        const path = join(process.cwd(), one.write.path);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, one.write.text);
        say(`wrote ${one.write.path}`);
      }
      if (one.call !== undefined) {
        const { text, isError } = await this.#call(one.call.tool, one.call.input);
        say(`${one.call.tool}${isError ? ` refused: ${text}` : ''}`);
      }
    }
  }

  /** Mail that the prompt shows is read with that; the rest is in the inbox. */
  async #readMail(prompt: string): Promise<void> {
    const { text } = await this.#call('Inbox', {});
    const { messages } = z
      .object({ messages: z.array(z.object({ from: z.string(), type: z.string() })) })
      .parse(JSON.parse(text));
    const shown = [...prompt.matchAll(/^#\d+ from (\S+), (\w+)/gm)].map(([, from = '', type = '']) => ({ from, type }));
    for (const { from, type } of [...shown, ...messages]) {
      say(`${type} from ${from}`);
      await this.#do(this.#part.mail[type] ?? []);
    }
  }

  async #tasks() {
    const { text } = await this.#call('TaskList', {});
    return listed.parse(JSON.parse(text)).tasks;
  }

  /** Whether somebody is at work on what the task waits for. */
  async #isStillToCome(id: string): Promise<boolean> {
    const tasks = await this.#tasks();
    const before = tasks.find(({ taskId }) => taskId === id)?.blocked_by ?? [];
    return tasks.some(({ taskId, status }) => before.includes(taskId) && status === 'in_progress');
  }

  /** The first task that is this teammate's to do. */
  async #mine(name: string): Promise<{ readonly id: string; readonly subject: string } | undefined> {
    const task = (await this.#tasks()).find(
      ({ owner, status }) => owner === name && (status === 'in_progress' || status === 'pending'),
    );
    return task === undefined ? undefined : { id: task.taskId, subject: task.subject };
  }

  /** One turn: mail, then its next task. */
  async turn(name: string, prompt: string): Promise<void> {
    await this.#readMail(prompt);
    const task = await this.#mine(name);
    if (task === undefined) return;
    const claim = await this.#call('TaskUpdate', { taskId: task.id, status: 'in_progress' });
    if (claim.isError) {
      say(`task ${task.id} is not to be had: ${claim.text}`);
      return;
    }
    const plan = this.#part.tasks.find(({ subject }) => task.subject.includes(subject));
    if (plan === undefined) {
      const result = `the script of ${name} has nothing for "${task.subject}"`;
      await this.#call('TaskUpdate', { taskId: task.id, status: 'failed', result });
      return;
    }
    say(`task ${task.id} "${task.subject}"`);
    await this.#do(plan.steps);
    const complete = () => this.#call('TaskUpdate', { taskId: task.id, status: 'completed', result: plan.result });
    let done = await complete();
    // Begun on an announcement: what it waits for is completed by somebody else.
    while (done.isError && (await this.#isStillToCome(task.id))) {
      await delay(WAIT_MS);
      done = await complete();
    }
    if (done.isError) {
      say(`task ${task.id} was rejected: ${done.text}`);
      await this.#do(plan.mend);
      done = await complete();
    }
    say(done.isError ? `task ${task.id} was rejected again: ${done.text}` : `task ${task.id} is completed`);
  }
}

/** One turn of the teammate that the environment names. */
export async function teammateCommand(): Promise<void> {
  const name = process.env.TOOL_TEAMMATE;
  if (name === undefined)
    throw failure(CLI_CODES.agent_command_misused, { missing: 'TOOL_TEAMMATE in the environment' });
  const part = readScript(name);
  const prompt = readFileSync(0, 'utf8');
  const env = setVariables(process.env);
  let team: TeamClient | undefined;
  try {
    team = await connectTeam(env);
    await new Teammate(team, part).turn(name, prompt);
  } catch (error) {
    const values = { command: 'tool agent teammate', said: messageOf(error) };
    throw failure(CLI_CODES.agent_program_failed, values, { cause: error });
  } finally {
    await team?.close();
  }
}
