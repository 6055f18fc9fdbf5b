// TypeScript's compiler: beside its sources, or where its words and the settings of the project say.

import { isOn, type Options, readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { checkOptions } from './files.ts';
import { placesOf, placesOfBuild, placesOfProject, type Settings } from './tsconfig.ts';

const PLACES = ['outDir', 'outFile', 'out', 'declarationDir', 'tsBuildInfoFile'];
const FLAGS = ['noEmit', 'emitDeclarationOnly'];
const TRACES = ['generatetrace', 'generatecpuprofile'];
/** Options with a text, which is the next word; the others have at most `true`, `false` or `null`. */
const TAKES: ReadonlySet<string> = new Set([
  ...PLACES.map((name) => name.toLowerCase()),
  ...TRACES,
  ...'p project t target m module lib jsx moduleresolution moduledetection types typeroots rootdir rootdirs'.split(' '),
  ...'baseurl maproot sourceroot jsxfactory jsxfragmentfactory jsximportsource reactnamespace newline locale'.split(
    ' ',
  ),
  ...'charset watchfile watchdirectory fallbackpolling excludedirectories excludefiles maxnodemodulejsdepth'.split(' '),
  ...'modulesuffixes customconditions ignoredeprecations'.split(' '),
]);
const SPEC = { singleDash: true, isExact: true, long: [...TAKES].map((name) => `${name}=`) };
const SOURCE = /\.([cm]?)[jt]sx?$/;

/** Names in small letters, which count as much; the value of a flag attached to it. */
function plainWords(args: readonly Field[]): readonly Field[] {
  const words: Field[] = [];
  for (const arg of args) {
    const last = words.at(-1);
    const isFlag = isText(last) && /^--?\w+$/.test(last) && !TAKES.has(last.replace(/^--?/, ''));
    if (isFlag && isText(arg) && /^(?:true|false|null)$/.test(arg)) words.splice(-1, 1, `${last}=${arg}`);
    else words.push(isText(arg) ? arg.replace(/^--?[^=]*/, (name) => name.toLowerCase()) : arg);
  }
  return words;
}

function saidBy(options: Options): Settings {
  const places = PLACES.flatMap((name): readonly (readonly [string, Field | null])[] => {
    const place = options.last(name.toLowerCase());
    return place === undefined ? [] : [[name, place === 'null' ? null : place]];
  });
  const flags = FLAGS.filter((name) => options.has(name.toLowerCase()));
  return new Map<string, Field | boolean | null>([
    ...places,
    ...flags.map((name) => [name, isOn(options, name.toLowerCase())] as const),
  ]);
}

/** What is compiled from a file that it is given. */
function compiledFrom(source: string): readonly string[] {
  const kind = SOURCE.exec(source)?.[1] ?? '';
  const stem = source.replace(SOURCE, '');
  return ['js', 'jsx', 'js.map', 'd.ts', 'd.ts.map'].map(
    (end) => `${stem}.${end.replace('js', `${kind}js`).replace('ts', `${kind}ts`)}`,
  );
}

function build(call: Call, options: Options, said: Settings): void {
  const { reader, shell } = call;
  if (isOn(options, 'help', 'h', 'dry', 'd')) return;
  for (const project of options.operands.length === 0 ? ['.'] : options.operands) {
    if (!isText(project)) reader.unresolved('tsc --build: which project it builds is known only when it runs');
    else
      for (const place of placesOfBuild(call, project, said))
        reader.write(shell, place, 'tsc --build', { tree: true, entry: true });
  }
}

export const tsc: Program = (call) => {
  const words = plainWords(call.args);
  const options = readOptions(words, SPEC);
  checkOptions(call, options);
  const { reader, shell } = call;
  const said = saidBy(options);
  for (const path of options.all(...TRACES)) reader.write(shell, path, 'tsc', { tree: true });
  // it counts only as the first word
  if (isText(words[0]) && /^--?b(?:uild)?$/.test(words[0])) {
    build(call, options, said);
    return undefined;
  }
  if (isOn(options, 'init')) reader.write(shell, 'tsconfig.json', 'tsc --init');
  if (isOn(options, 'init', 'version', 'v', 'help', 'h', '?', 'all', 'showconfig', 'listfilesonly')) return undefined;
  const sources = options.operands.filter((one) => !isText(one) || SOURCE.test(one));
  if (sources.length > 0) {
    const beside = sources.flatMap((source): readonly Field[] => (isText(source) ? compiledFrom(source) : [source]));
    const places = placesOf(said, beside);
    for (const place of places) reader.write(shell, place, 'tsc', { tree: !beside.includes(place) });
    return undefined;
  }
  const project = options.last('p', 'project');
  const isKnown = isText(project ?? '');
  const places = isKnown ? placesOfProject(call, isText(project) ? project : undefined, said) : null;
  for (const place of places ?? placesOf(said, [])) reader.write(shell, place, 'tsc', { tree: true, entry: true });
  return undefined;
};
