// Where the writers of a team work, and how their work comes together in one branch: types, nothing else.

export type MemberCommit = {
  readonly sha: string;
  readonly subject: string;
  /** The task that its trailer `Task:` names. */
  readonly task: string | null;
  /** Paths that it changes, from the project's root. */
  readonly files: readonly string[];
};

export type Merge =
  | { readonly kind: 'merged'; readonly head: string }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

export interface Workshop {
  /** Makes the team's branch `tool/<team>` from HEAD, or takes it up where it is. Throws in words where there is no repository or no commit. */
  begin(team: string): Promise<{ readonly branch: string; readonly base: string; readonly head: string }>;
  /** A worktree of its own for a writer on `tool/<team>--<member>`; taken up where it stands, with what is not committed. */
  open(team: string, member: string): Promise<{ readonly path: string; readonly branch: string }>;
  /** A worktree at the head of the team's branch for who only reads, brought up to date at each call. */
  view(team: string, name: string): Promise<{ readonly path: string; readonly head: string }>;
  /** Brings the team's branch into the writer's; a conflict leaves the worktree as it was. */
  update(team: string, member: string): Promise<Merge>;
  /** Commits what the writer left uncommitted; null when there is nothing. */
  save(team: string, member: string, message: string): Promise<string | null>;
  /** The writer's commits that the team's branch lacks, oldest first; merges of the team's branch left out. */
  commits(team: string, member: string): Promise<readonly MemberCommit[]>;
  /** Takes the writer's branch into the team's by one merge commit. */
  merge(team: string, member: string, message: string): Promise<Merge>;
  /** Takes the writer's commits from `sha` on out of its branch; gives the ref under which they are kept. */
  refuse(team: string, member: string, sha: string): Promise<string>;
  /** Paths in which the team's branch differs from where it began. */
  changed(
    team: string,
  ): Promise<readonly { readonly path: string; readonly added: number; readonly removed: number }[]>;
  /** Removes a member's worktree and branch; gives the ref that keeps what the team's branch lacks, or null. */
  close(team: string, member: string): Promise<string | null>;
  /** Removes every worktree of the team; its branch stays. */
  end(team: string): Promise<void>;
}
