// The command that is proposed for a part of the gate, with its reason.

import type { Commanded } from '../rules/quality.ts';
import { isInstalled } from './project-files.ts';

/**
 * `command` null: nothing measures the part. `reason`: the files that the command is taken from, or the line that would
 * measure the part. `missing`: why the command cannot run yet; null: it can. `install`: a shell command that the part
 * needs first; null: none.
 */
export type Proposal = {
  readonly command: string | null;
  readonly reason: string;
  readonly missing: string | null;
  readonly install: string | null;
};

export type Proposals = Readonly<Record<Commanded, Proposal>>;

/** Of one manifest: the parts that it says nothing about are left out. */
export type Proposed = Partial<Record<Commanded, Proposal>>;

export type DetectionInput = {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs something small and returns its standard output; null when it failed. */
  readonly ask: (script: string) => Promise<string | null>;
};

/** Directory for reports, outside of the project; the gate sets the variable for each command. */
export const REPORTS = `\${TOOL_REPORTS:-/tmp}`;

export function propose(command: string, reason: string): Proposal {
  return { command, reason, missing: null, install: null };
}

/** A proposal whose command cannot run before `install` has. */
export function needing(proposal: Proposal, missing: string, install: string): Proposal {
  return { ...proposal, missing, install };
}

export function proposeNone(reason: string, install: string | null = null): Proposal {
  return { command: null, reason, missing: null, install };
}

/** The first program that is wanted and installed, as a proposal. */
export function firstInstalled(
  env: DetectionInput['env'],
  ...rows: readonly (readonly [program: string, isWanted: boolean, command: string])[]
): Proposal | undefined {
  const found = rows.find(([program, isWanted]) => isWanted && isInstalled(program, env));
  return found && propose(found[2], `${found[0]} is installed`);
}
