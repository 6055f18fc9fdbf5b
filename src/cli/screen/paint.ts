// Colours of the screens, by meaning.

import kleur from 'kleur';
import type { Paint } from './table.ts';

export const paints = {
  heading: (text: string) => kleur.bold(kleur.blue(text)),
  name: kleur.cyan,
  active: kleur.cyan,
  good: kleur.green,
  bad: kleur.red,
  waiting: kleur.yellow,
  note: kleur.magenta,
  quiet: kleur.dim,
  strong: kleur.bold,
} as const satisfies Readonly<Record<string, Paint>>;
