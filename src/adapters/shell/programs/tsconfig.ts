// Where the settings of TypeScript's compiler have it write, as far as they are plain.

import { baseOf, isWithin, normalize, parentOf } from '../paths.ts';
import type { Call } from '../reader.ts';
import { type Field, isText } from '../values.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A setting by its name; null takes back what stood before. Places of a file are absolute. */
export type Settings = ReadonlyMap<string, Field | boolean | null>;

/** A file of settings, with those that it extends. */
type Config = {
  readonly path: string;
  readonly settings: Settings;
  /** Directories whose files are compiled; null: all below the file. */
  readonly sources: readonly string[] | null;
  readonly references: readonly string[];
};

const FLAGS = ['noEmit', 'emitDeclarationOnly'];
const PLACES = ['outDir', 'outFile', 'out', 'rootDir', 'declarationDir', 'tsBuildInfoFile'];

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

/** The file that `extends` means: a path, or one of a package that is looked up from there. */
function baseFile(base: string, directory: string, call: Call): string | undefined {
  const { kindOf, readText } = call.reader.context;
  if (/^\.{0,2}(?:\/|$)/.test(base)) {
    const place = base.startsWith('/') ? normalize(base) : normalize(`${directory}/${base}`);
    return kindOf(place) === 'file' ? place : `${place}.json`;
  }
  for (let above = directory; ; above = parentOf(above)) {
    const place = normalize(`${above}/node_modules/${base}`);
    const named = textsOf(parse(readText?.(`${place}/package.json`) ?? '')?.tsconfig);
    const tried = [
      place,
      `${place}.json`,
      ...named.map((one) => normalize(`${place}/${one}`)),
      `${place}/tsconfig.json`,
    ];
    const found = tried.find((path) => kindOf(path) === 'file');
    if (found !== undefined || above === '/') return found;
  }
}

/** @param above the files that extend it */
function read(path: string, call: Call, root: string, above: readonly string[] = []): Config | null {
  call.reader.step();
  const fields = above.includes(path) ? null : parse(call.reader.context.readText?.(path) ?? '');
  if (fields === null) return null;
  const directory = parentOf(path);
  const at = (place: string) =>
    normalize(place.startsWith('/') ? place : `${directory}/${place}`.replace(/^.*\$\{configDir\}/, root));
  // one that is not there, or that extends itself, changes nothing
  const bases = textsOf(fields.extends).flatMap((base) => {
    const file = baseFile(base, directory, call);
    return (file === undefined ? null : read(file, call, root, [...above, path])) ?? [];
  });
  const options = fieldsOf(fields.compilerOptions);
  const own = [...FLAGS, ...PLACES].flatMap((name): readonly (readonly [string, string | boolean | null])[] => {
    const value = options[name];
    if (value === null || (typeof value === 'boolean' && FLAGS.includes(name))) return [[name, value]];
    return typeof value === 'string' && PLACES.includes(name) ? [[name, at(value)]] : [];
  });
  const hasSources = fields.include !== undefined || fields.files !== undefined;
  const sources = [...textsOf(fields.include), ...textsOf(fields.files)].map((one) => directoryOf(at(one)));
  const references = Array.isArray(fields.references) ? fields.references : [];
  return {
    path,
    // of several the last that says something decides
    settings: new Map([...bases.flatMap(({ settings }) => [...settings]), ...own]),
    sources: hasSources ? sources : (bases.findLast((base) => base.sources !== null)?.sources ?? null),
    references: references.flatMap((one) => textsOf(fieldsOf(one).path)).map(at),
  };
}

function placeOf(settings: Settings, name: string): readonly Field[] {
  const value = settings.get(name);
  return value === undefined || value === null || typeof value === 'boolean' || value === '' ? [] : [value];
}

/** @param sources the directories, or files, beside which it writes without another place */
export function placesOf(settings: Settings, sources: readonly Field[]): readonly Field[] {
  const info = placeOf(settings, 'tsBuildInfoFile');
  if (settings.get('noEmit') === true) return info;
  const declarations = placeOf(settings, 'declarationDir');
  const outputs = ['outDir', 'outFile', 'out'].flatMap((name) => placeOf(settings, name));
  const isElsewhere = settings.get('emitDeclarationOnly') === true && declarations.length > 0;
  return [...(isElsewhere ? [] : outputs.length > 0 ? outputs : sources), ...declarations, ...info];
}

/** The settings of a project with those that are said beside them, which go before. */
function placesWith(config: Config, said: Settings): readonly Field[] {
  return placesOf(new Map([...config.settings, ...said]), config.sources ?? [parentOf(config.path)]);
}

/**
 * @param project the file or directory that it is told; else the nearest settings above count
 * @returns the places that are written; null where that is not plain, or there are no settings
 */
export function placesOfProject(call: Call, project: string | undefined, said: Settings): readonly Field[] | null {
  const { reader, shell } = call;
  const [start, ...others] = reader.places(shell, project ?? '.') ?? [];
  if (start === undefined || others.length > 0) return null;
  const { kindOf } = reader.context;
  let path = project !== undefined && kindOf(start) === 'file' ? start : `${start}/tsconfig.json`;
  while (project === undefined && kindOf(path) !== 'file' && parentOf(path) !== '/')
    path = `${parentOf(parentOf(path))}/tsconfig.json`.replace('//', '/');
  // the command itself may have changed it
  if (reader.kindAt(shell, path) !== 'file') return null;
  const config = read(path, call, parentOf(path));
  return config === null ? null : placesWith(config, said);
}

/** What is kept of a build, to begin from there the next time. */
function infoOf({ path, settings }: Config): string {
  const text = (name: string) => placeOf(settings, name).find(isText);
  const file = text('outFile');
  if (file !== undefined) return `${file.replace(/\.[^./]*$/, '')}.tsbuildinfo`;
  const [directory, root] = [text('outDir'), text('rootDir')];
  const stem = path.replace(/\.json$/, '');
  if (directory === undefined) return `${stem}.tsbuildinfo`;
  if (root === undefined) return `${directory}/${baseOf(stem)}.tsbuildinfo`;
  const up: string[] = [];
  let above = root;
  for (; !isWithin(stem, above); above = parentOf(above)) up.push('..');
  return normalize(`${directory}/${up.join('/')}/${stem.slice(above.length)}.tsbuildinfo`);
}

/** The places that `tsc --build` writes for this project and for those that it refers to. */
export function placesOfBuild(call: Call, project: string, said: Settings): readonly Field[] {
  const { reader, shell } = call;
  const found: Field[] = [];
  const seen = new Set<string>();
  const visit = (place: string): void => {
    const path = place.endsWith('.json') ? place : `${place}/tsconfig.json`;
    if (seen.has(path) || reader.kindAt(shell, path) !== 'file') return;
    seen.add(path);
    const config = read(path, call, parentOf(path));
    if (config === null) return;
    for (const reference of config.references) visit(reference);
    const places = placesWith(config, said);
    // without sources there is nothing to build
    if (config.sources?.length === 0) return;
    found.push(...places);
    if (placeOf(config.settings, 'tsBuildInfoFile').length === 0) found.push(infoOf(config));
  };
  for (const place of reader.places(shell, project) ?? []) visit(place);
  return found;
}
