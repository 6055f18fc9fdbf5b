// The rows of `tool doctor` as they are printed: mark, name, text with its code, and below it the command that mends.

import kleur from 'kleur';
import { padColumns } from '../../base/display-width.ts';
import { wrap } from '../screen/table.ts';
import type { DoctorCheck } from './doctor-row.ts';

const MARKS = { ok: kleur.green('✔'), warn: kleur.yellow('!'), fail: kleur.red('✖') } as const;
/** Beside the longest name: the mark and the gaps. */
const BESIDE = 4;
const LEAST = 10;
const ARROW = '→ ';

/** @param columns so wide a line may be; without bound each line of a text stays whole, so that it can be searched */
export function doctorRows(checks: readonly DoctorCheck[], columns: number): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const indent = ' '.repeat(width + BESIDE);
  const room = Math.max(LEAST, columns - indent.length);
  return checks
    .flatMap(({ name, status, says, mend, code }) => {
      const coded = code === undefined ? says : says.replace(/$/m, ` (${code})`);
      const text = coded.split('\n').flatMap((line) => wrap(line, room));
      const mending = mend === null ? [] : wrap(mend, room - ARROW.length);
      return [
        ...text.map((line, at) => `${at === 0 ? `${MARKS[status]} ${padColumns(name, width)}  ` : indent}${line}\n`),
        ...mending.map((line, at) => `${indent}${at === 0 ? ARROW : ' '.repeat(ARROW.length)}${line}\n`),
      ];
    })
    .join('');
}
