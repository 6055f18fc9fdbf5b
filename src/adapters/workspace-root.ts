// The directory that holds the workspaces: ours alone, real paths only.

import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { messageOf, ToolError } from '../domain/errors.ts';

/** What is ours in the root beside the workspaces. */
export const ROOT_DATA = '.toolcrew';

function inside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

function readOwner(root: string): string | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(root, ROOT_DATA, 'root.json'), 'utf8'));
    const owner = typeof value === 'object' && value !== null && 'repository' in value ? value.repository : undefined;
    return typeof owner === 'string' ? owner : '(unreadable)';
  } catch (error) {
    return error instanceof SyntaxError ? '(unreadable)' : undefined;
  }
}

/**
 * Why an existing directory cannot be the root; undefined when it can.
 * @param real its real path
 * @param repository what the root is for, as `<host>/<owner>/<repo>`: a second repository needs a root of its own
 * @param stateDir must lie apart from it
 */
export function objectionToRoot(real: string, repository: string, stateDir: string): string | undefined {
  if (real === dirname(real) || inside(homedir(), real)) return 'holds the home directory';
  if (inside(real, stateDir) || inside(stateDir, real)) return `is not apart from state.dir ${stateDir}`;
  const status = lstatSync(real);
  if (!status.isDirectory()) return 'is not a directory';
  const uid = process.getuid?.();
  if (uid !== undefined && status.uid !== uid) return `belongs to another user (uid ${status.uid})`;
  const owner = readOwner(real);
  if (owner !== undefined && owner !== repository) return `holds the workspaces of ${owner}, not of ${repository}`;
  if (owner === undefined && readdirSync(real).length > 0) return 'holds files that are not ours';
  return undefined;
}

/** Makes or takes the root and gives its real path. Arguments as for `objectionToRoot`. */
export function claimRoot(root: string, repository: string, stateDir: string): string {
  let real: string;
  try {
    mkdirSync(root, { recursive: true });
    real = realpathSync(root);
  } catch (error) {
    throw new ToolError('workspace_root', `workspace.root: cannot make ${root}: ${messageOf(error)}`, { cause: error });
  }
  const objection = objectionToRoot(real, repository, stateDir);
  if (objection !== undefined) {
    throw new ToolError(
      'workspace_root',
      `workspace.root: expected an empty directory or one of this daemon's, got ${real}, which ${objection}`,
    );
  }
  if (readOwner(real) === undefined) {
    mkdirSync(join(real, ROOT_DATA), { recursive: true, mode: 0o700 });
    writeFileSync(join(real, ROOT_DATA, 'root.json'), `${JSON.stringify({ repository })}\n`);
  }
  return real;
}
