// Port of git: head, tree and changes of a work tree (types only). The port of worktrees is worktrees/team-worktrees-port.ts.

/** The project's files as they stand. */
export interface WorkTree {
  /** The commit that is checked out; null: there is none. */
  head(): Promise<string | null>;
  /** A Git tree id of the work tree, untracked files included; null when it cannot be told. */
  tree(): Promise<string | null>;
  /** Paths in which two trees differ; null when one of them is gone. */
  changed(from: string, to: string): Promise<readonly string[] | null>;
}
