// What a row of the table of commands is.

export type Verdict = 'allow' | 'deny' | 'unresolved';

export type Row = {
  /** `@P@` is the project's root, `@O@` a directory beside it. */
  readonly command: string;
  readonly verdict: Verdict;
  /** Why it counts as foreign although one run of it changed nothing that is not owned. */
  readonly cautious?: string;
};

function rows(verdict: Verdict, commands: readonly string[]): readonly Row[] {
  return commands.map((command) => ({ command, verdict }));
}

export const allow = (...commands: readonly string[]): readonly Row[] => rows('allow', commands);
export const deny = (...commands: readonly string[]): readonly Row[] => rows('deny', commands);
export const unresolved = (...commands: readonly string[]): readonly Row[] => rows('unresolved', commands);
export const cautious = (command: string, why: string): Row => ({ command, verdict: 'deny', cautious: why });
