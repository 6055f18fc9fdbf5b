// Scripts of a manifest: they are run unread, as programs of the project are; what the words behind them add is read.

import type { ShellWrite } from '../effects.ts';
import { parentOf } from '../paths.ts';
import type { Call } from '../reader.ts';
import type { Shell } from '../state.ts';
import { type Field, isText } from '../values.ts';
import { anyRunner } from './snapshots.ts';

type Manifest = { readonly scripts: Readonly<Record<string, unknown>>; readonly directory: string };

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === 'object' && found !== null ? { ...found } : {};
  } catch {
    return {};
  }
}

/** The nearest one at or above the directory; null when it cannot be told what it says. */
function manifestOf({ reader }: Call, inside: Shell): Manifest | null {
  const [start, ...others] = reader.places(inside, '.') ?? [];
  if (start === undefined || others.length > 0) return null;
  let directory = start;
  while (reader.context.kindOf(`${directory}/package.json`) !== 'file') {
    if (directory === '/') return null;
    directory = parentOf(directory);
  }
  const path = `${directory}/package.json`;
  // the command itself may have changed it
  if (reader.kindAt(inside, path) !== 'file') return null;
  const { scripts } = fieldsOf(reader.context.readText?.(path) ?? '');
  return { scripts: typeof scripts === 'object' && scripts !== null ? { ...scripts } : {}, directory };
}

function scriptOf(call: Call, inside: Shell, name: Field | undefined): { text: string; directory: string } | null {
  const manifest = isText(name) ? manifestOf(call, inside) : null;
  const text = isText(name) ? manifest?.scripts[name] : undefined;
  return manifest !== null && typeof text === 'string' ? { text, directory: manifest.directory } : null;
}

export function hasScript(call: Call, inside: Shell, name: string): boolean {
  return scriptOf(call, inside, name) !== null;
}

/** Reads what a script writes for the words that it is given and would not write without them. */
export function runScript(call: Call, inside: Shell, name: Field | undefined, words: readonly Field[]): void {
  const { reader } = call;
  if (!words.some((word) => !isText(word) || word.startsWith('-'))) return;
  const script = scriptOf(call, inside, name);
  if (script === null) {
    anyRunner({ ...call, shell: inside, args: words });
    return;
  }
  const shell = { ...inside, cwds: [script.directory] };
  const plain = reader.tried(script.text, { ...shell, positional: [] });
  const given = reader.tried(`${script.text} "$@"`, { ...shell, positional: words });
  const keyOf = ({ path, tree, directory }: ShellWrite) => `${tree} ${directory} ${path}`;
  const known = new Set(plain.writes.map(keyOf));
  for (const write of given.writes)
    if (!known.has(keyOf(write)))
      reader.write(shell, write.path, `${call.name}: ${write.by}`, {
        tree: write.tree,
        ...(write.directory === true ? { directory: true } : {}),
      });
  for (const line of given.unresolved) if (!plain.unresolved.includes(line)) reader.unresolved(line);
}
