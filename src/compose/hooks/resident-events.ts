// The hooks of the project that ask the server that stays: each gets what its own process would have worked out.

import { runProgram } from '../../base/processes/program.ts';
import { failure, ToolError } from '../../base/rules/errors.ts';
import { answerHooks, type HookChannel } from '../../claude-code/hooks/hook-channel.ts';
import type { Reply, Respond } from '../../claude-code/hooks/hook-reply.ts';
import { invalidInput } from '../../claude-code/hooks/invalid-input.ts';
import { parseEvent } from '../../claude-code/hooks/parse-event.ts';
import type { HookQuestion } from '../../claude-code/hooks/run-hook.ts';
import type { Resident } from '../../claude-code/resident.ts';
import { WORK_CODES } from '../../daemon/rules/codes/work-codes.ts';
import { findProject } from '../../git/project.ts';
import { respond as postToolUse } from './post-tool-use.ts';
import { respond as preToolUse } from './pre-tool-use.ts';
import { respond as sessionStart } from './session-start.ts';
import { respond as leadStop } from './stop.ts';
import { respond as agentStart } from './subagent-start.ts';
import { respond as agentStop } from './subagent-stop.ts';
import { respond as taskCompleted } from './task-completed.ts';
import { respond as teammateIdle } from './teammate-idle.ts';

/** Without the user's prompts: what the user says is heard from the host alone. */
const RESPONDS: Readonly<Record<Exclude<HookQuestion['hook'], 'UserPromptSubmit'>, Respond>> = {
  PreToolUse: preToolUse,
  PostToolUse: postToolUse,
  SessionStart: sessionStart,
  SubagentStart: agentStart,
  SubagentStop: agentStop,
  Stop: leadStop,
  TeammateIdle: teammateIdle,
  TaskCompleted: taskCompleted,
};

function isHook(value: unknown): value is keyof typeof RESPONDS {
  return typeof value === 'string' && Object.hasOwn(RESPONDS, value);
}

function isEnvironment(value: unknown): value is Readonly<Record<string, string>> {
  return typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string');
}

function invalid(problem: string): ToolError {
  return failure(WORK_CODES.request_invalid, { problems: [problem] });
}

async function answer(resident: Resident, question: unknown): Promise<Reply> {
  if (typeof question !== 'object' || question === null) throw invalid('expected a question');
  const { hook, input, cwd, env }: Partial<Record<keyof HookQuestion, unknown>> = question;
  if (!isHook(hook) || typeof input !== 'string' || typeof cwd !== 'string' || !isEnvironment(env))
    throw invalid('expected the question of a hook');
  const parsed = parseEvent(input, hook, cwd);
  if (!parsed.ok) throw new ToolError(invalidInput(parsed.invalid));
  const { main } = findProject(parsed.event.cwd, env.CLAUDE_PROJECT_DIR);
  if (main !== resident.project.main) throw invalid(`expected a hook of ${resident.project.main}, got one of ${main}`);
  return RESPONDS[hook](parsed, env, resident.context.teams);
}

/** Answers hooks for as long as the server stays; undefined where they cannot reach it. */
export function answerEvents(resident: Resident): Promise<HookChannel | undefined> {
  return answerHooks(resident.project.main, (question) => answer(resident, question), runProgram);
}
