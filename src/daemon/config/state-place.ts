// Path of the daemon's state directory, also for a broken or missing workflow file.

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readFrontMatterLoosely } from '../../base/config/front-matter.ts';
import { stateHome } from '../../base/files/state-home.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { parseSlug, type Remote, type RepoSlug } from '../../git/rules/repository.ts';
import { apiUrlOf, hostOf } from '../github/clone-url.ts';
import { CONFIG_CODES } from '../rules/codes/config-codes.ts';
import { placeOf } from '../rules/repositories.ts';

export type WorkflowSource = {
  readonly env: Environment;
  /** Reads the Git remote of the workflow file's directory. */
  readonly detectRemote: (directory: string, signal?: AbortSignal) => Promise<Remote>;
};

/** Expands a leading `~` and every `$VAR` or `\${VAR}`; an unset variable is a problem. */
export function expandPath(path: string, env: WorkflowSource['env'], problems: Refusal[], key: string): string {
  const home = env.HOME ?? homedir();
  const tilde = path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path;
  return tilde.replace(/\$(?:\{(\w+)\}|(\w+))/g, (whole, braced: string | undefined, bare: string | undefined) => {
    const value = env[braced ?? bare ?? ''];
    if (value === undefined || value === '') {
      problems.push(refusal(CONFIG_CODES.variable_unset, { key, variable: whole, path }));
      return whole;
    }
    return value;
  });
}

/** Holds `<owner>/<repo>` for each repository of the host. */
export function hostStateDir(apiUrl: string, env: WorkflowSource['env']): string {
  return join(stateHome(env), 'toolcrew', hostOf(apiUrl).replace(/[^A-Za-z0-9.-]/g, '_'));
}

export function defaultStateDir(slug: RepoSlug, apiUrl: string, env: WorkflowSource['env']): string {
  return placeOf(hostStateDir(apiUrl, env), slug);
}

const GITHUB_API = 'https://api.github.com';

function textAt(data: unknown, path: readonly string[]): string | undefined {
  const value = path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
    data,
  );
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/**
 * The state directory for a workflow file that may be invalid or missing: from its `state.dir`, else from its
 * repository, else from the Git remote of its directory. undefined when these give no path.
 * @param named one of many repositories
 */
export async function findStateDir(
  file: string,
  source: WorkflowSource,
  named?: RepoSlug,
): Promise<string | undefined> {
  const path = resolve(file);
  const data = readFrontMatterLoosely(textOf(path));
  const written = textAt(data, ['state', 'dir']);
  if (written !== undefined) {
    const problems: Refusal[] = [];
    const dir = resolve(dirname(path), expandPath(written, source.env, problems, 'state.dir'));
    const place = named === undefined ? dir : placeOf(dir, named);
    return problems.length === 0 ? place : undefined;
  }
  const slug = named ?? parseSlug(textAt(data, ['tracker', 'repo']) ?? '');
  const remote = slug === undefined ? await source.detectRemote(dirname(path)) : null;
  const found = remote?.kind === 'repository' ? remote : undefined;
  const apiUrl = textAt(data, ['tracker', 'api_url']) ?? (found === undefined ? GITHUB_API : apiUrlOf(found));
  const repository = slug ?? found?.slug;
  return repository === undefined || !URL.canParse(apiUrl)
    ? undefined
    : defaultStateDir(repository, apiUrl, source.env);
}
