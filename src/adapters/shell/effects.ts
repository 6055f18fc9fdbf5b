// What reading a shell command needs to see, and what it finds out.

/** The place in which the command would run, and how its files are looked at. */
export type ShellContext = {
  /** Absolute. */
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** What is there now, links followed. */
  readonly kindOf: (path: string) => 'file' | 'directory' | 'none';
  /** Where the link at this absolute path leads, as it is written in the link; null when it is none. */
  readonly linkTo: (path: string) => string | null;
  readonly readText?: (path: string) => string | null;
  /** Of code of Node that surely only reads, the files that it loads; null of other code. It is given when `hasCode` asks for it. */
  readonly onlyReads?: (code: string) => readonly string[] | null;
  /**
   * Paths that a bash pattern matches, as bash would write them; quoted characters come with a backslash before them. Null:
   * `**` stands for too many directories.
   */
  readonly glob?: (pattern: string, cwd: string) => readonly string[] | null;
  /** The names of the directories in one, without hidden ones and links. */
  readonly directoriesIn?: (path: string) => readonly string[];
};

export type ShellWrite = {
  /** Absolute, `.` and `..` resolved. */
  readonly path: string;
  /** The directory as a whole: anything in it may change. */
  readonly tree: boolean;
  /** Nothing but a directory is made there. */
  readonly directory?: true;
  /** The words that do it, such as `sed -i` or `>`. */
  readonly by: string;
  /** What is there goes · what stands there came from elsewhere · only what is out of date is written. */
  readonly how?: 'removed' | 'copied' | 'renewed';
  /** What makes the same command one that does not write there. */
  readonly hint?: string;
  /** The script of a manifest that does it. */
  readonly script?: string;
};

export type ShellEffects = {
  readonly writes: readonly ShellWrite[];
  /** What cannot be told before the command runs: a line for each. */
  readonly unresolved: readonly string[];
  /** What it writes into a repository itself, or into another one: the commands that do. */
  readonly repository: readonly string[];
  /** Code of Node stood there that `onlyReads` was not there to look at. */
  readonly hasCode?: true;
  /** Every simple command as its words; null is a word that is not known. */
  readonly commands: readonly (readonly (string | null)[])[];
};
