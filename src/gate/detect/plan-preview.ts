// The gate as it would run for a project as it stands. Nothing of it is run.

import type { Refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { ToolError } from '../../base/rules/errors.ts';
import type { PlannedPart } from '../rules/plan-preview.ts';
import { COMMANDED, type QualitySettings } from '../rules/quality.ts';
import { checkEnvironment, createCommands } from '../run/command.ts';
import { detect } from './detect.ts';
import { type DetectionInput, type Proposals, propose } from './proposal.ts';

const LIMIT_MS = 30_000;

function surroundings(root: string, env: Environment): DetectionInput {
  const now = Date.now;
  const { signal } = new AbortController();
  const own = checkEnvironment(env, root);
  const more = { now, deadline: now() + LIMIT_MS, signal, output: () => undefined };
  return { root, env: own, ask: createCommands({ root, env: own, ...more }).ask };
}

/** A manifest that cannot be read is the refusal instead. */
async function orProblem<T>(read: Promise<T>): Promise<T | Refusal> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ToolError && error.kind === 'config') return error.refusal;
    throw error;
  }
}

/** The commands that the project's own files suggest; a refusal: of a file that cannot be read. */
export async function proposeCommands(root: string, env: Environment): Promise<Proposals | Refusal> {
  return orProblem(detect(surroundings(root, env)));
}

/**
 * @param env the caller's environment
 * @returns or the refusal of a file of the project that cannot be read
 */
export async function previewPlan(
  root: string,
  settings: QualitySettings,
  env: Environment,
): Promise<readonly PlannedPart[] | Refusal> {
  const proposed = await proposeCommands(root, env);
  const { commands } = settings;
  if ('of' in proposed && COMMANDED.some((name) => commands[name] === null)) return proposed;
  return COMMANDED.map((name) => {
    const given = commands[name];
    const own = 'of' in proposed ? undefined : proposed[name];
    // What a proposal needs first, the same command in the settings needs as well.
    const isProposed = own !== undefined && (given === null || given === own.command);
    const { command, reason, missing, install } = isProposed ? own : propose(given ?? '', '');
    // A report that is named may be left by whatever runs.
    const isLeft = name === 'coverage' && settings.coverageReport !== null && install === null;
    return { name, command, gap: command === null && !isLeft ? reason : (missing ?? ''), install };
  });
}
