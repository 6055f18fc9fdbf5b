// Writes of one call: their targets, and the mechanism that enforces the rules on them.

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

/**
 * The mechanism. `kernel`: `native/write-guard.c` decides each write · `seatbelt`: the sandbox of macOS does ·
 * `reader`: no program does; commands are read, and obvious writes refused.
 */
export type WriteHolder = 'kernel' | 'seatbelt' | 'reader';
