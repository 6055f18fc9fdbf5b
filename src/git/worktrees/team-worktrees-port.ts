// The port of worktrees: writers work apart, each in its own, and one branch takes in their work.

/** A commit of a writer. Paths are told from the project's root; one outside of the project begins with `../`. */
export type MemberCommit = {
  readonly sha: string;
  readonly subject: string;
  /** The id in its trailer `Task: 3`; null without one. */
  readonly task: string | null;
  /** What it changes; of a merge, what nobody else's work accounts for. */
  readonly files: readonly string[];
};

/** What of a writer's branch the team's branch lacks. */
export type MemberWork = {
  /** Where the branch stands; null: there is none. */
  readonly tip: string | null;
  /** Oldest first; merges that add nothing of their own left out. */
  readonly commits: readonly MemberCommit[];
};

export type Merge =
  | { readonly kind: 'merged'; readonly head: string }
  | { readonly kind: 'nothing' }
  /** Nothing was merged: somebody has moved the team's branch, which `putBack` puts right. */
  | { readonly kind: 'moved' }
  /** Nothing was merged: a person has the team's branch checked out. `words`: where, and what they are to do. */
  | { readonly kind: 'checked_out'; readonly words: string }
  /** Nothing was changed. `tasks`: ids of those by which these files changed in the team's branch, as far as its merges name them. */
  | { readonly kind: 'conflict'; readonly files: readonly string[]; readonly tasks: readonly string[] };

export type WriterPlace = {
  /** Where the project's root is in the worktree. */
  readonly path: string;
  readonly branch: string;
  /** For git as the writer runs it: its name on commits; the person's hooks and signature stay out. */
  readonly env: Readonly<Record<string, string>>;
  /** What both sides changed, where the team's branch was to come in and did not. */
  readonly conflict: readonly string[];
};

/** A file that was in conflict: the writer's version was kept, the team's, or neither alone. */
export type ResolvedFile = { readonly path: string; readonly kept: 'own' | 'team' | 'both' };

export type ChangedPath = { readonly path: string; readonly added: number; readonly removed: number };

export type RefTips = ReadonlyMap<string, { readonly sha: string; readonly isTeams: boolean }>;

/**
 * The worktrees and branches of teams. Each call can be made again after a kill at any point, by another process too,
 * and puts in order what it finds half done. The person's checkout, index, branch, stash and configuration stay as they are.
 */
/** What of a writer's work no commit takes in, from the project's root. */
export type WorkLeftOut = {
  readonly repositories: readonly string[];
  /** Those of the files that were asked for that git ignores. */
  readonly ignored: readonly string[];
  /** Changed files of submodules. */
  readonly inSubmodules: readonly string[];
};

export interface TeamWorktrees {
  /**
   * Makes the team's branch `tool/<team>` from HEAD, or takes it up where it is. Throws where there is no repository or no
   * commit. `anew`, for a team that is founded: where HEAD has all of an earlier branch of that name, it begins at HEAD.
   */
  begin(team: string, how?: 'anew'): Promise<{ readonly branch: string; readonly base: string; readonly head: string }>;
  /**
   * A worktree for a writer on `tool/<team>--<member>`; taken up where it stands, work that is not committed included.
   * `updated`: the team's branch is brought in with it, as `update` does, where it stands on its own.
   */
  open(team: string, member: string, how?: 'updated'): Promise<WriterPlace>;
  /**
   * A worktree at the head of the team's branch for who only reads, brought up to date at each call; what was changed in it is lost.
   * @param at another commit than the head
   */
  openReadOnly(team: string, name: string, at?: string): Promise<{ readonly path: string; readonly head: string }>;
  /** Brings the team's branch into the writer's. Work that is not committed stays; where it is in the way, that is a conflict. */
  update(team: string, member: string): Promise<Merge>;
  /**
   * Words on where the writer's worktree stands that is not on its branch and would lose something on the way there; it stays there,
   * what it holds is kept under a ref, and until its writer has brought it back other calls throw these words. Null: it is on its branch.
   */
  astray(team: string, member: string): Promise<string | null>;
  leftOut(team: string, member: string, files: readonly string[]): Promise<WorkLeftOut>;
  /** Keeps what is in the writer's worktree and in no commit, files of submodules and `ignored` too; gives the ref. */
  keep(team: string, member: string, ignored: readonly string[]): Promise<string>;
  /** Commits what the writer left uncommitted; null when there is nothing. Throws while files hold conflict markers. */
  save(team: string, member: string, message: string): Promise<string | null>;
  commits(team: string, member: string): Promise<MemberWork>;
  /** Paths that the writer has changed and the team's branch lacks, committed or not; without what git ignores. */
  unmerged(team: string, member: string): Promise<readonly string[]>;
  /** Files of a writer's work that hold a conflict as git leaves it, and in the team's branch do not. */
  unsettled(team: string, member: string): Promise<readonly string[]>;
  /** The outcome of merges by which the writer's branch, up to a commit of it, settled conflicts in these files. */
  settled(team: string, member: string, upTo: string, files: readonly string[]): Promise<readonly ResolvedFile[]>;
  /** Takes the writer's branch, up to a commit of it, into the team's by a merge commit. */
  merge(team: string, member: string, message: string, upTo?: string): Promise<Merge>;
  /** Words on where a person has the team's branch checked out, which keeps everything from being merged; null: nowhere. */
  checkedOut(team: string): Promise<string | null>;
  /**
   * Before a lead goes on: what a person has committed to the team's branch meanwhile counts as left there. Where it was made
   * anew, its writers, of these members, are put upon it with what is their own. Where each stood is kept. Gives what people
   * are to be told, what did not succeed with one of them too.
   */
  adoptChanges(team: string, members: readonly string[]): Promise<readonly string[]>;
  /** The person's branches and tags, and whether a teammate made the commit that they stand at. */
  tips(): Promise<RefTips>;
  /**
   * Puts the team's branch back to where the last merge left it, where somebody else has moved it since; what it held
   * instead is kept under the ref that it gives. Null: it stands where it was left.
   */
  putBack(team: string): Promise<string | null>;
  /**
   * Takes the commits from `sha` on out of the writer's branch. They are kept under the ref that it gives. In the
   * worktree `files` go back to what they were before; the rest of what the commits changed stays there, uncommitted.
   */
  refuse(team: string, member: string, sha: string, files: readonly string[]): Promise<string>;
  /** Ids of the tasks under which the team's branch was changed, as far as its commits name them; the oldest first. */
  tasks(team: string): Promise<readonly string[]>;
  /** What differs between the commit that the team began from and its branch; lines of binary files count 0. */
  changed(team: string): Promise<readonly ChangedPath[]>;
  /** Removes a member's worktree and branch. Gives the ref that keeps what the team's branch lacks of it; null when it lacks nothing. */
  close(team: string, member: string): Promise<string | null>;
  /** The refs that keep what was closed, or left out, and that the team's branch lacks. */
  kept(team: string): Promise<readonly string[]>;
  /** Closes all worktrees of the team, and the branches of these members, with or without one; its branch stays, as does any other. */
  end(team: string, members: readonly string[]): Promise<void>;
  /** Ends it, and takes its branch away where nothing was committed to it. */
  forget(team: string, members: readonly string[]): Promise<void>;
}
