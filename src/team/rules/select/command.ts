// Names and flags of the slash commands.

export type CommandName = 'plan' | 'run' | 'sync' | 'build-fix' | 'team-restart';

export type FlagName = 'team' | 'solo' | 'force' | 'pattern';

export type Flags = {
  /** What was asked for by `--team` or `--solo`; both at once are refused. */
  readonly wish: 'team' | 'solo' | null;
  readonly force: boolean;
  /** One of the known patterns; null: none was named. */
  readonly pattern: string | null;
};
