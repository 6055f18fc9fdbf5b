// Row type of the table of commands, and a constructor for each verdict.

export type Verdict = 'allow' | 'deny' | 'unresolved';

export type Row = {
  /** `@P@` is the project's root, `@O@` a directory beside it. */
  readonly command: string;
  readonly verdict: Verdict;
  /** Reason for the denial, although a test run of the command changed no foreign file. */
  readonly cautious?: string;
};

function rows(verdict: Verdict, commands: readonly string[]): readonly Row[] {
  return commands.map((command) => ({ command, verdict }));
}

export const allow = (...commands: readonly string[]): readonly Row[] => rows('allow', commands);
export const deny = (...commands: readonly string[]): readonly Row[] => rows('deny', commands);
export const unresolved = (...commands: readonly string[]): readonly Row[] => rows('unresolved', commands);
export const cautious = (command: string, why: string): Row => ({ command, verdict: 'deny', cautious: why });
