// Files of a plan that cannot be together: names that are one file on some computers, migrations with the same number.

import { got } from '../../../base/rules/text.ts';
import { insideProject } from '../../../guard/rules/ownership.ts';

type Task = { readonly id: string; readonly files: readonly string[] };

type Named = { readonly task: string; readonly file: string; readonly path: string };

type Migration = { readonly place: string; readonly number: string; readonly name: string };

const MIGRATION = /^(.*(?:^|\/)migrat(?:ions?|e)\/)V?0*(\d+(?:[._-]\d+)*)([^/.*]*)/;

/** The migration that a path is a part of; null: it is none with a number. */
function migrationOf(path: string): Migration | null {
  const [, place = '', number = '', name = ''] = MIGRATION.exec(path) ?? [];
  return number === '' ? null : { place, number, name };
}

function clash(one: Named, other: Named, where: string): string | null {
  if (one.path === other.path) return null;
  if (one.path.toLowerCase() === other.path.toLowerCase())
    return `expected another name or the same case, got ${got(other.path)} in ${where}: on many computers both are one file`;
  const [mine, its] = [migrationOf(one.path), migrationOf(other.path)];
  const isSame = mine !== null && mine.place === its?.place && mine.number === its.number && mine.name !== its.name;
  return isSame ? `expected a number of its own, got ${mine.number} again, of ${got(other.path)} in ${where}` : null;
}

/**
 * What is wrong with each file that cannot be beside one before it.
 * @param lineOf where the files of a task stand
 */
export function fileClashes(
  tasks: readonly Task[],
  lineOf: (id: string) => number,
): readonly { readonly line: number; readonly words: string }[] {
  const all = tasks.flatMap(({ id, files }) =>
    files.flatMap((file): readonly Named[] => {
      const path = insideProject(file);
      return path === null ? [] : [{ task: id, file, path }];
    }),
  );
  return all.flatMap((one, at) => {
    for (const other of all.slice(0, at)) {
      const words = clash(one, other, `${other.task} (line ${lineOf(other.task)})`);
      if (words !== null) return [{ line: lineOf(one.task), words: `${one.task}: files: ${got(one.file)}: ${words}` }];
    }
    return [];
  });
}
