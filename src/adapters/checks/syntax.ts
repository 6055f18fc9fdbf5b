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

/** The syntax tree of a text that Node is given to run; null where it cannot be read, as Node could not either. */
export function parseScript(text: string): unknown {
  // what is no script Node reads as a module
  for (const sourceType of ['script', 'module'] as const) {
    try {
      return parse(text, { sourceType }).program;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return null;
}
