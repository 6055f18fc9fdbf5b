// Every program that is known, by its name.

import type { Program } from '../reader.ts';
import { ARCHIVE_PROGRAMS } from './archives.ts';
import { awk } from './awk.ts';
import { BUILD_PROGRAMS } from './builds.ts';
import { CODE_PROGRAMS } from './code.ts';
import { COMMAND_LINE_PROGRAMS } from './command-lines.ts';
import { COMPILER_PROGRAMS } from './compilers.ts';
import { CONTAINER_PROGRAMS } from './containers.ts';
import { COPY_PROGRAMS } from './copies.ts';
import { EDIT_PROGRAMS } from './edits.ts';
import { ENVIRONMENT_PROGRAMS } from './environments.ts';
import { FILE_PROGRAMS } from './files.ts';
import { find, xargs } from './find-xargs.ts';
import { FORMATTER_PROGRAMS } from './formatters.ts';
import { GENERATOR_PROGRAMS } from './generators.ts';
import { git } from './git.ts';
import { gh } from './hosting.ts';
import { LANGUAGE_PROGRAMS } from './languages.ts';
import { fd, filter, grep, ls, ripgrep } from './listing.ts';
import { OUTPUT_OPTION_PROGRAMS } from './output-options.ts';
import { OUTPUT_PROGRAMS } from './outputs.ts';
import { PACKAGE_PROGRAMS } from './packages.ts';
import { patch } from './patches.ts';
import { perl } from './perl.ts';
import { RECIPE_PROGRAMS } from './recipes.ts';
import { initializer, isInitializer, SCAFFOLD_PROGRAMS } from './scaffolds.ts';
import { sed } from './sed.ts';
import { SHELL_PROGRAMS } from './shells.ts';
import { SNAPSHOT_PROGRAMS } from './snapshots.ts';
import { SQL_AND_GO_PROGRAMS } from './sql-and-go.ts';
import { STATEMENT_PROGRAMS } from './statements.ts';
import { TEXT_PROGRAMS } from './text-tools.ts';
import { TOOL_RUNNER_PROGRAMS } from './tool-runners.ts';
import { TRANSFER_PROGRAMS } from './transfers.ts';
import { WRAPPER_PROGRAMS } from './wrappers.ts';

const PROGRAMS: ReadonlyMap<string, Program> = new Map([
  ...CODE_PROGRAMS,
  ...COMMAND_LINE_PROGRAMS,
  ...COMPILER_PROGRAMS,
  ...PACKAGE_PROGRAMS,
  ...TOOL_RUNNER_PROGRAMS,
  ...LANGUAGE_PROGRAMS,
  ...BUILD_PROGRAMS,
  ...SNAPSHOT_PROGRAMS,
  ...RECIPE_PROGRAMS,
  ...SCAFFOLD_PROGRAMS,
  ...GENERATOR_PROGRAMS,
  ...SQL_AND_GO_PROGRAMS,
  ...FORMATTER_PROGRAMS,
  ...EDIT_PROGRAMS,
  ...FILE_PROGRAMS,
  ...COPY_PROGRAMS,
  ...ARCHIVE_PROGRAMS,
  ...TEXT_PROGRAMS,
  ...TRANSFER_PROGRAMS,
  ...OUTPUT_OPTION_PROGRAMS,
  ...OUTPUT_PROGRAMS,
  ...CONTAINER_PROGRAMS,
  ...WRAPPER_PROGRAMS,
  ...ENVIRONMENT_PROGRAMS,
  ...SHELL_PROGRAMS,
  ...STATEMENT_PROGRAMS,
  ...['awk', 'gawk', 'mawk', 'nawk', 'original-awk'].map((name): readonly [string, Program] => [name, awk]),
  ...['sed', 'gsed'].map((name): readonly [string, Program] => [name, sed]),
  ...['grep', 'egrep', 'fgrep', 'ggrep'].map((name): readonly [string, Program] => [name, grep]),
  ...['fd', 'fdfind'].map((name): readonly [string, Program] => [name, fd]),
  ...['head', 'tail'].map((name): readonly [string, Program] => [name, filter]),
  ['rg', ripgrep],
  ['ls', ls],
  ['find', find],
  ['xargs', xargs],
  ['gxargs', xargs],
  ['git', git],
  ['gh', gh],
  ['patch', patch],
  ['perl', perl],
]);

/** What a program of this name does; undefined when that is not known. Versions in names are left out: `python3.11`. */
export function programOf(name: string): Program | undefined {
  const known = PROGRAMS.get(name) ?? PROGRAMS.get(name.toLowerCase());
  if (known === undefined && isInitializer(name)) return initializer;
  return known ?? PROGRAMS.get(name.replace(/\.exe$/i, '').replace(/-?\d+(\.\d+)*$/, ''));
}
