// The project that a team is installed into: where its root is, what it is written in, and what must not be taken for one.

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../base/package-root.ts';
import type { ValuesOf } from '../base/rules/codes.ts';
import { failure, messageOf } from '../base/rules/errors.ts';
import { findProject as findCheckout } from '../git/project.ts';
import { MANIFEST } from './manifest.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

export type InstallTarget = {
  readonly root: string;
  readonly kind: string;
  /** Where its teams and their configuration are: of a team's worktree, the checkout that it was made in. */
  readonly main: string;
};

const KINDS: Readonly<Record<string, string>> = {
  'package.json': 'JavaScript',
  'go.mod': 'Go',
  'pyproject.toml': 'Python',
  'Cargo.toml': 'Rust',
};

function kindOf(root: string): string {
  const found = Object.entries(KINDS).flatMap(([file, kind]) => (existsSync(join(root, file)) ? [kind] : []));
  return found.join(' and ') || 'no known language';
}

function realDirectory(path: string): string {
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    throw failure(INSTALL_CODES.directory_missing, { path, got: `none: ${messageOf(error)}` }, { cause: error });
  }
  if (!statSync(real).isDirectory()) throw failure(INSTALL_CODES.directory_missing, { path, got: 'a file' });
  return real;
}

/**
 * Where something is installed, or else the top of the working tree that holds the directory, a linked one as well; the
 * directory itself outside of any.
 */
function topOf(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, '.git')) || existsSync(join(at, MANIFEST))) return at;
    if (at === dirname(at)) return directory;
  }
}

function isThisPackage(root: string): boolean {
  if (root === realpathSync(packageRoot())) return true;
  try {
    const value: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    return typeof value === 'object' && value !== null && 'name' in value && value.name === 'toolcrew';
  } catch {
    return false;
  }
}

/**
 * Finds the project. A directory that is named is taken as it is; without one it is the nearest that has an installation, or the top of the working tree.
 * @param home the person's own directory, which is nobody's project
 */
export function findInstallTarget(named: string | undefined, cwd: string, home: string | undefined): InstallTarget {
  const root = named === undefined ? topOf(realDirectory(cwd)) : realDirectory(named);
  const refuse = (what: ValuesOf<typeof INSTALL_CODES.project_unsuitable>['what']) =>
    failure(INSTALL_CODES.project_unsuitable, { path: root, what });
  if (root === dirname(root)) throw refuse('the root of the file system');
  if (home !== undefined && existsSync(home) && root === realpathSync(home)) throw refuse('your home directory');
  if (isThisPackage(root)) throw refuse('toolcrew itself');
  const checkout = findCheckout(root);
  return { root, kind: kindOf(root), main: checkout.root === root ? checkout.main : root };
}
