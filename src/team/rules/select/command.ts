// Names and flags of the commands that begin work of a team: slash commands, and their forms at a terminal.

export type CommandName = 'plan' | 'run' | 'sync' | 'build-fix' | 'team-restart';

export type FlagName = 'team' | 'solo' | 'force' | 'pattern';

export type Flags = {
  /** What was asked for by `--team` or `--solo`; both at once are refused. */
  readonly wish: 'team' | 'solo' | null;
  readonly force: boolean;
  /** One of the known patterns; null: none was named. */
  readonly pattern: string | null;
};
