// Files of a plan that cannot be together: names that are one file on some computers, migrations with the same number.

import { type Refusal, refusal } from '../../../base/rules/codes.ts';
import { got } from '../../../base/rules/text.ts';
import { insideProject } from '../../../guard/rules/ownership.ts';
import { SPEC_CODES } from '../codes/spec-codes.ts';

type Task = { readonly id: string; readonly files: readonly string[] };

type Named = { readonly task: string; readonly file: string; readonly path: string };

type Migration = { readonly place: string; readonly number: string; readonly name: string };

const MIGRATION = /^(.*(?:^|\/)migrat(?:ions?|e)\/)V?0*(\d+(?:[._-]\d+)*)([^/.*]*)/;

/** The migration that a path is a part of; null: it is none with a number. */
function migrationOf(path: string): Migration | null {
  const [, place = '', number = '', name = ''] = MIGRATION.exec(path) ?? [];
  return number === '' ? null : { place, number, name };
}

function clash(one: Named, other: Named, task: string): Refusal | null {
  if (one.path === other.path) return null;
  const values = { id: one.task, file: got(one.file), other: got(other.path), task };
  if (one.path.toLowerCase() === other.path.toLowerCase()) return refusal(SPEC_CODES.plan_file_name_taken, values);
  const [mine, its] = [migrationOf(one.path), migrationOf(other.path)];
  const isSame = mine !== null && mine.place === its?.place && mine.number === its.number && mine.name !== its.name;
  return isSame ? refusal(SPEC_CODES.plan_migration_number_taken, { ...values, number: mine.number }) : null;
}

/**
 * What is wrong with each file that cannot be beside one before it.
 * @param lineOf where the files of a task stand
 */
export function fileClashes(
  tasks: readonly Task[],
  lineOf: (id: string) => number,
): readonly { readonly line: number; readonly problem: Refusal }[] {
  const all = tasks.flatMap(({ id, files }) =>
    files.flatMap((file): readonly Named[] => {
      const path = insideProject(file);
      return path === null ? [] : [{ task: id, file, path }];
    }),
  );
  return all.flatMap((one, at) => {
    for (const other of all.slice(0, at)) {
      const problem = clash(one, other, `${other.task} (line ${lineOf(other.task)})`);
      if (problem !== null) return [{ line: lineOf(one.task), problem }];
    }
    return [];
  });
}
