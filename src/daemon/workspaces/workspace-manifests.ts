// Manifests of complete workspaces, kept outside of them.

import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Commit and branch on which a clone that is not made yet is to stand. */
export type LateClone = { readonly head: string; readonly branch: string };

/** `config`: of the clone, as it was before any agent ran. */
export type WorkspaceManifest = {
  readonly issue: number;
  readonly config: string;
  /** Its submodules are being filled, and no agent has been there: what is found so is not whole, and holds no work. */
  readonly isFilling?: boolean;
  /** Whatever lies there is nobody's work: the clone is made when its files are read. */
  readonly late?: LateClone | undefined;
};

function lateIn(value: unknown): LateClone | undefined {
  if (typeof value !== 'object' || value === null || !('head' in value) || !('branch' in value)) return undefined;
  const { head, branch } = value;
  return typeof head === 'string' && typeof branch === 'string' ? { head, branch } : undefined;
}

export class WorkspaceManifests {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  #pathOf(issue: number): string {
    return join(this.#directory, `issue-${issue}.json`);
  }

  /** The manifest; undefined when there is none, or none that can be read. */
  read(issue: number): WorkspaceManifest | undefined {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#pathOf(issue), 'utf8'));
      if (typeof value !== 'object' || value === null || !('config' in value) || !('issue' in value)) return undefined;
      const { config } = value;
      if (typeof config !== 'string' || value.issue !== issue) return undefined;
      const late = 'late' in value ? lateIn(value.late) : undefined;
      return { issue, config, isFilling: 'isFilling' in value && value.isFilling === true, late };
    } catch {
      return undefined;
    }
  }

  write(manifest: WorkspaceManifest): void {
    const fresh = `${this.#pathOf(manifest.issue)}.${randomBytes(4).toString('hex')}`;
    writeFileSync(fresh, JSON.stringify(manifest), { mode: 0o600 });
    renameSync(fresh, this.#pathOf(manifest.issue));
  }

  remove(issue: number): void {
    rmSync(this.#pathOf(issue), { force: true });
  }
}
