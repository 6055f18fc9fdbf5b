// Marks of complete workspaces, kept outside of them.

import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** `config`: of the clone, as it was before any agent ran. */
export type Mark = {
  readonly issue: number;
  readonly config: string;
  /** Its submodules are being filled, and no agent has been there: what is found so is not whole, and holds no work. */
  readonly isFilling?: boolean;
};

export class WorkspaceMarks {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  #pathOf(issue: number): string {
    return join(this.#directory, `issue-${issue}.json`);
  }

  /** The mark; undefined when there is none, or none that can be read. */
  read(issue: number): Mark | undefined {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#pathOf(issue), 'utf8'));
      if (typeof value !== 'object' || value === null || !('config' in value) || !('issue' in value)) return undefined;
      const { config } = value;
      if (typeof config !== 'string' || value.issue !== issue) return undefined;
      return { issue, config, isFilling: 'isFilling' in value && value.isFilling === true };
    } catch {
      return undefined;
    }
  }

  write(mark: Mark): void {
    const fresh = `${this.#pathOf(mark.issue)}.${randomBytes(4).toString('hex')}`;
    writeFileSync(fresh, JSON.stringify(mark), { mode: 0o600 });
    renameSync(fresh, this.#pathOf(mark.issue));
  }

  remove(issue: number): void {
    rmSync(this.#pathOf(issue), { force: true });
  }
}
