// Git options that fix its output format for parsing, whatever the settings of users and repositories are.

/** Git's default values. A setting for one command overrides the general one, so each is listed. */
const FORM: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'ui',
      'branch',
      'diff',
      'grep',
      'interactive',
      'showBranch',
      'status',
      'advice',
      'push',
      'remote',
      'transport',
    ].map((part) => [`color.${part}`, 'false']),
  ),
  ...Object.fromEntries(['ui', 'branch', 'status', 'tag', 'clean'].map((part) => [`column.${part}`, 'never'])),
  'core.quotePath': 'true',
  'diff.context': '3',
  'diff.dstPrefix': 'b/',
  'diff.interHunkContext': '0',
  'diff.mnemonicPrefix': 'false',
  'diff.noprefix': 'false',
  'diff.orderFile': '/dev/null',
  'diff.relative': 'false',
  'diff.srcPrefix': 'a/',
  'diff.submodule': 'short',
  'diff.suppressBlankEmpty': 'false',
  'format.pretty': 'medium',
  'grep.column': 'false',
  'grep.fullName': 'false',
  'grep.lineNumber': 'false',
  'grep.patternType': 'default',
  'i18n.commitEncoding': 'UTF-8',
  'i18n.logOutputEncoding': 'UTF-8',
  'log.abbrevCommit': 'false',
  'log.date': 'default',
  'log.decorate': 'false',
  'log.diffMerges': 'separate',
  'log.follow': 'false',
  'log.showRoot': 'true',
  'log.showSignature': 'false',
  'status.relativePaths': 'true',
  'trailer.separators': ':',
};

const SETTINGS = Object.entries(FORM).flatMap(([key, value]) => ['-c', `${key}=${value}`]);

/** Commands that run configured diff and textconv programs, unless an option disables them. */
const SHOWING: readonly string[] = ['diff', 'diff-index', 'diff-tree', 'log', 'show'];
const OWN = ['--no-ext-diff', '--no-textconv'];

/** Index of the subcommand among the arguments of git. */
export function subcommandIndex(args: readonly string[]): number {
  return args.findIndex((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-c');
}

/** The same arguments, with the options for a fixed output format. */
export function withPlainOutput(args: readonly string[]): readonly string[] {
  const at = subcommandIndex(args);
  const verb = args[at] ?? '';
  if (!SHOWING.includes(verb)) return [...SETTINGS, ...args];
  return [...SETTINGS, ...args.slice(0, at), verb, ...OWN, ...args.slice(at + 1)];
}
