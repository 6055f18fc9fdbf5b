// Where the settings of TypeScript's compiler have it write, as far as they are plain.

import { normalize, parentOf } from '../paths.ts';
import type { Call } from '../reader.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The settings of a project, with those that they extend; places are absolute. */
type Config = {
  readonly noEmit: boolean;
  /** Directories and files that are written in place of the sources' directories. */
  readonly outputs: readonly string[];
  readonly sources: readonly string[] | null;
  /** Something that they extend is not read. */
  readonly isOpen: boolean;
};

const DEEPEST = 8;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function textsOf(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string');
}

/** JSON with comments, and commas at the end of lists; null where it is none. */
function parse(text: string): Fields | null {
  const plain = text
    .replace(/("(?:[^"\\\n]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '$1')
    .replace(/("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])/g, '$1');
  try {
    return fieldsOf(JSON.parse(plain));
  } catch {
    return null;
  }
}

/** The directory before the first sign of a pattern. */
function directoryOf(pattern: string): string {
  const sign = pattern.search(/[*?]/);
  if (sign === -1) return /\.[cm]?[jt]sx?$/.test(pattern) ? parentOf(pattern) : pattern;
  return pattern.slice(0, pattern.lastIndexOf('/', sign));
}

function read(path: string, call: Call, root: string, depth: number): Config | null {
  const { context } = call.reader;
  const fields = depth > DEEPEST ? null : parse(context.readText?.(path) ?? '');
  if (fields === null) return null;
  const directory = parentOf(path);
  const at = (place: string) =>
    normalize(place.startsWith('/') ? place : `${directory}/${place}`.replace(/^.*\$\{configDir\}/, root));
  const bases = textsOf(fields.extends).map((base) => {
    if (!/^\.{0,2}\//.test(base)) return null;
    const place = at(base);
    return read(context.kindOf(place) === 'file' ? place : `${place}.json`, call, root, depth + 1);
  });
  const known = bases.flatMap((one) => (one === null ? [] : [one]));
  const options = fieldsOf(fields.compilerOptions);
  const outputs = ['outDir', 'outFile', 'declarationDir'].flatMap((name) => textsOf(options[name])).map(at);
  const hasSources = fields.include !== undefined || fields.files !== undefined;
  const own = [...textsOf(fields.include), ...textsOf(fields.files)].map((one) => directoryOf(at(one)));
  return {
    noEmit: typeof options.noEmit === 'boolean' ? options.noEmit : (known.at(-1)?.noEmit ?? false),
    outputs: outputs.length > 0 ? outputs : (known.at(-1)?.outputs ?? []),
    sources: hasSources ? own : (known.at(-1)?.sources ?? null),
    isOpen: known.length < bases.length || known.some(({ isOpen }) => isOpen),
  };
}

/**
 * @param project the file or directory that it is told; else the nearest settings above count
 * @returns the places that are written; null where that is not plain, or there are no settings
 */
export function placesOfProject(call: Call, project: string | undefined): readonly string[] | null {
  const { reader, shell } = call;
  const [start, ...others] = reader.places(shell, project ?? '.') ?? [];
  if (start === undefined || others.length > 0) return null;
  const { kindOf } = reader.context;
  let path = project !== undefined && kindOf(start) === 'file' ? start : `${start}/tsconfig.json`;
  while (project === undefined && kindOf(path) !== 'file' && parentOf(path) !== '/')
    path = `${parentOf(parentOf(path))}/tsconfig.json`.replace('//', '/');
  // the command itself may have changed it
  if (reader.kindAt(shell, path) !== 'file') return null;
  const root = parentOf(path);
  const config = read(path, call, root, 0);
  if (config === null) return null;
  if (config.noEmit) return [];
  if (config.outputs.length > 0) return config.outputs;
  return config.isOpen ? null : (config.sources ?? [root]);
}
