// Role of a reviewer: the agent of that name in the repository, as it was before the work, else the one of this package.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentRole } from '../../agents/ports.ts';
import { parseFrontMatter } from '../../base/config/front-matter.ts';
import { packageRoot } from '../../base/package-root.ts';
import { BASE_CODES } from '../../base/rules/base-codes.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { failure, ToolError } from '../../base/rules/errors.ts';
import { got } from '../../base/rules/text.ts';
import { REVIEW_CODES } from '../rules/codes/review-codes.ts';
import type { Mirror } from '../workspaces/mirror/mirror.ts';

type Repository = Pick<Mirror['comparison'], 'fileIn' | 'namesIn'>;

/** The reviewer where a project has none: no file, since hosts show those to every session. */
const REVIEWER = 'reviewer';
const REVIEWER_TEXT = `You review finished work of another agent. You judge it by the issue and by what you read in the code.

- Read each changed file whole, and the code that calls it. Do not trust the messages of the commits.
- Look for what the issue asks for and the work lacks; for wrong results, lost errors and unsafe input; for tests that cannot fail.
- Report only what you can show with a file and a line. Say what goes wrong, and for whom.`;

const DIRECTORY = '.claude/agents';
/** More is no description of an agent, and would not fit into a command line. */
const MAX_BYTES = 100_000;

function shipped(): string {
  return join(packageRoot(), 'agents');
}

function isBuiltIn(name: string): boolean {
  return name === REVIEWER || existsSync(join(shipped(), `${name}.md`));
}

function namesOf(files: readonly string[]): readonly string[] {
  return files.flatMap((file) => (/^[\w-]{1,64}\.md$/.test(file) ? [file.slice(0, -3)] : []));
}

async function knownNames(repository: Repository, commit: string, signal: AbortSignal): Promise<readonly string[]> {
  const own = namesOf(await repository.namesIn(commit, DIRECTORY, signal));
  return [...new Set([REVIEWER, ...namesOf(readdirSync(shipped())), ...own])].sort();
}

function roleIn(text: string, file: string): AgentRole {
  const { data, content } = parseFrontMatter(text, file);
  const model = typeof data === 'object' && data !== null && 'model' in data ? data.model : null;
  return {
    text: content.trim(),
    model: typeof model === 'string' && /^[\w.:[\]-]+$/.test(model) && model !== 'inherit' ? model : null,
  };
}

/** @param commit the one that the work began from */
export async function readReviewRole(
  repository: Repository,
  name: string,
  commit: string,
  signal: AbortSignal,
): Promise<AgentRole | Refusal> {
  const own = await repository.fileIn(commit, `${DIRECTORY}/${name}.md`, signal);
  if (own !== null && own.length <= MAX_BYTES) return roleIn(own, `${DIRECTORY}/${name}.md`);
  if (name === REVIEWER) return { text: REVIEWER_TEXT, model: null };
  const path = join(shipped(), `${name}.md`);
  if (existsSync(path)) return roleIn(readFileSync(path, 'utf8'), path);
  const known = await knownNames(repository, commit, signal);
  return refusal(REVIEW_CODES.review_agent_unknown, { agent: name, known });
}

/** Throws for a name that neither the repository's default branch nor this package has. Without an answer of the service, the review tells. */
export async function requireReviewer(
  name: string | null,
  mirror: Pick<Mirror, 'refresh' | 'defaultBranch' | 'branchHead'> & { readonly comparison: Repository },
  signal: AbortSignal,
): Promise<void> {
  if (name === null || isBuiltIn(name)) return;
  try {
    await mirror.refresh(signal);
    const commit = (await mirror.branchHead(await mirror.defaultBranch(signal))) ?? '';
    const known = await knownNames(mirror.comparison, commit, signal);
    if (known.includes(name)) return;
    throw failure(BASE_CODES.config_value, {
      key: 'review.agent',
      expected: 'the name of an agent',
      got: got(name),
      known,
    });
  } catch (error) {
    if (error instanceof ToolError && error.kind === 'config') throw error;
  }
}
