// Lock files of package managers, by name: each is written by a command, never merged by hand.

import { visible } from '../../base/rules/text.ts';

/** The command that brings a lock file up to date with its manifest. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ['package-lock.json', 'npm install'],
  ['npm-shrinkwrap.json', 'npm install'],
  ['pnpm-lock.yaml', 'pnpm install'],
  ['yarn.lock', 'yarn install'],
  ['bun.lock', 'bun install'],
  ['bun.lockb', 'bun install'],
  ['poetry.lock', 'poetry lock'],
  ['uv.lock', 'uv lock'],
  ['pdm.lock', 'pdm lock'],
  ['Pipfile.lock', 'pipenv lock'],
  ['Cargo.lock', 'cargo update --workspace'],
  ['go.sum', 'go mod tidy'],
  ['Gemfile.lock', 'bundle lock'],
  ['mix.lock', 'mix deps.get'],
]);

/** From the project's root; null: no lock file that is known here. */
export function lockCommand(path: string): string | null {
  const slash = path.lastIndexOf('/');
  const command = COMMANDS.get(path.slice(slash + 1));
  if (command === undefined) return null;
  return slash === -1 ? command : `cd ${path.slice(0, slash)} && ${command}`;
}

/** The steps that settle a conflict in those of the files that are lock files, as further sentences. */
export function lockWords(files: readonly string[]): string {
  const words = files.flatMap((file) => {
    const command = lockCommand(file);
    const name = visible(file);
    return command === null
      ? []
      : `. Do not merge ${name} by hand: settle the other files, then run \`git checkout --theirs ${name}\` and \`${command}\` before you commit`;
  });
  return words.join('');
}
