// The one place that knows the parser of JavaScript and TypeScript; it is imported when there is something to read.

import { parse } from '@babel/parser';

/** The syntax tree of a file, as it is: its nodes are looked at one by one. Throws when it cannot be read. */
export function parseCode(text: string, path: string): unknown {
  return parse(text, {
    sourceType: 'unambiguous',
    errorRecovery: true,
    allowReturnOutsideFunction: true,
    plugins: [
      ...(/\.[cm]?tsx?$/.test(path) ? (['typescript'] as const) : []),
      ...(/\.[cm]?ts$/.test(path) ? [] : (['jsx'] as const)),
      'decorators',
      'explicitResourceManagement',
    ],
  }).program;
}
