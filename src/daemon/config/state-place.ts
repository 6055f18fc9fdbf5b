// Path of the daemon's state directory, also for a broken or missing workflow file.

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readLoosely } from '../../base/config/front-matter.ts';
import { stateHome } from '../../base/files/state-home.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { parseSlug, type Remote, type RepoSlug } from '../../git/rules/repository.ts';
import { apiUrlOf, hostOf } from '../github/clone-url.ts';
import { CONFIG_CODES } from '../rules/codes/config-codes.ts';

export type WorkflowSource = {
  readonly env: Environment;
  /** Reads the Git remote of the workflow file's directory. */
  readonly detectRemote: (directory: string) => Remote;
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

export function defaultStateDir(slug: RepoSlug, apiUrl: string, env: WorkflowSource['env']): string {
  return join(stateHome(env), 'toolcrew', hostOf(apiUrl).replace(/[^A-Za-z0-9.-]/g, '_'), slug.owner, slug.repo);
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
 */
export function findStateDir(file: string, source: WorkflowSource): string | undefined {
  const path = resolve(file);
  const data = readLoosely(textOf(path));
  const named = textAt(data, ['state', 'dir']);
  if (named !== undefined) {
    const problems: Refusal[] = [];
    const dir = resolve(dirname(path), expandPath(named, source.env, problems, 'state.dir'));
    return problems.length === 0 ? dir : undefined;
  }
  const slug = parseSlug(textAt(data, ['tracker', 'repo']) ?? '');
  const remote = source.detectRemote(dirname(path));
  const found = remote.kind === 'repository' ? remote : undefined;
  const apiUrl =
    textAt(data, ['tracker', 'api_url']) ?? (slug === undefined && found !== undefined ? apiUrlOf(found) : GITHUB_API);
  const repository = slug ?? found?.slug;
  return repository === undefined || !URL.canParse(apiUrl)
    ? undefined
    : defaultStateDir(repository, apiUrl, source.env);
}
