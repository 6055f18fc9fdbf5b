// What a variable's text does by being assigned, to the shell and to the programs that see it.

import { checkArithmeticText } from './arithmetic.ts';
import { checkNodeText } from './programs/node-options.ts';
import type { Reader } from './reader.ts';
import type { Shell } from './state.ts';
import { type Field, isList, isText, type Value } from './values.ts';
import { meaningOf } from './variables.ts';

/** Shows what it is given on the screen, and nothing else. */
const SHOWING = /^(?:cat|less(?: -[EFKMRSXein]+)*)$/;

/** Looks at what a text makes the shell or other programs do when a variable is given it. */
export function checkAssigned(name: string, value: Value, shell: Shell, reader: Reader): void {
  const meaning = meaningOf(name);
  if (meaning === 'text') return;
  if (meaning === 'path') {
    reader.otherPrograms();
    return;
  }
  if (meaning === 'options') {
    for (const text of textsOf(value)) checkNodeText(text, shell, reader);
    return;
  }
  if (meaning === 'number') {
    for (const text of textsOf(value)) checkArithmeticText(text, { shell }, reader);
    return;
  }
  if (meaning === 'hidden') {
    if (
      value !== '' &&
      !(name === 'PS1' || (name === 'PS4' && typeof value === 'string' && !/[$`]/.test(`${value}`)))
    ) {
      reader.unresolved(`${name} makes other programs do what cannot be told`);
    }
    return;
  }
  for (const text of textsOf(value)) {
    if (isText(text) && SHOWING.test(text)) continue;
    // the program is given further words that are not known
    if (isText(text)) reader.deeper(() => reader.runText(text === '' ? '' : `${text} "$_"`, shell), shell);
    else reader.unresolved(`${name} is a command that is known only when it runs`);
  }
}

function textsOf(value: Value): readonly Field[] {
  if (value === null) return [];
  return isList(value) ? value : [value];
}
