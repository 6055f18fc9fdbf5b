// Facts about finished work that TRUST 5 judges, beside the gate's checks.

/** Something to be mended, and where; `path` null: nowhere in particular. */
export type Finding = {
  readonly path: string | null;
  readonly line: number | null;
  readonly words: string;
  /** The commit that alone still holds it: no further change takes it out. Missing: it is there. */
  readonly heldBy?: string;
};

/** Nothing was measured, and why. */
export type Unmeasured = { readonly unmeasured: string };

/** What a command says of the changed files. */
export type CommandFacts = {
  readonly source: string;
  /** Changed files that are there. */
  readonly files: number;
  /** One of them without a path: the command failed and names no file of the project. */
  readonly findings: readonly Finding[];
};

export type SecretFacts = {
  readonly source: string;
  readonly lines: number;
  /** How many the settings say are none. */
  readonly allowed: number;
  readonly findings: readonly Finding[];
};

export type CommitFact = {
  /** Short. */
  readonly id: string;
  readonly subject: string;
  /** The task that its trailer names; of a person's commit, any line of its message. */
  readonly task: string | null;
  readonly namesSpec: boolean;
  /** Somebody of a team made it, or it came with a task's work. */
  readonly isTeams: boolean;
  /** The first file that it changes. */
  readonly path: string | null;
};

/** Where a team works in the checkout itself, without commits: which of the changed files were written under a task. */
export type WrittenFacts = {
  readonly source: string;
  readonly written: readonly { readonly path: string; readonly task: string | null }[] | Unmeasured;
  /** The SPEC that the tasks are of; null: none. */
  readonly spec: string | null;
};

export type CommitFacts = {
  readonly source: string;
  readonly commits: readonly CommitFact[];
  /** The SPEC that the work is for; null: none. */
  readonly spec: string | null;
  /** Ids that a commit may name as its task; null: any. */
  readonly tasks: readonly string[] | null;
};
