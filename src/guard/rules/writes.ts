// Writes of a caller: targets, and who holds one.

/** What is about to be written: paths from the project's root, or absolute ones outside of it. */
export type Target = {
  readonly path: string;
  /** All below it as well. */
  readonly tree: boolean;
  /** `there`: it is a directory · `made`: it is none yet, and nothing but a directory is made there. */
  readonly directory?: 'there' | 'made' | null;
};

export type Writes = {
  readonly targets: readonly Target[];
  /** Why it is unknown which files the call writes; empty: it is known, or not looked at. */
  readonly unresolved: readonly string[];
  /** Why a call of git is refused. */
  readonly git: string | null;
};

/** The kernel decides each write (`native/write-guard.c`), or commands are read and obvious writes refused. */
export type WriteHolder = 'kernel' | 'seatbelt' | 'reader';
