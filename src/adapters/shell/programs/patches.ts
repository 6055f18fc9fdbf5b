// Which files a patch changes, for `git apply` and `patch`.

import { readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { fileText } from '../redirects.ts';
import type { Shell } from '../state.ts';
import { type Field, isText } from '../values.ts';
import { checkOptions } from './files.ts';
import { inDirectory } from './wrappers.ts';

type Named = { readonly name: string /** Its leading parts are not counted. */; readonly isWhole: boolean };

const HEADERS: readonly string[] = [
  '--- ',
  '+++ ',
  '*** ',
  'Index: ',
  'rename from ',
  'rename to ',
  'copy from ',
  'copy to ',
];

/** Every name in the headers of a patch; null when a name is written in a way that is not read. */
function namesOf(text: string): readonly Named[] | null {
  const names: Named[] = [];
  for (const line of text.split('\n')) {
    const trimmed = line.replace(/^[ \t>]*(?=(---|\+\+\+|\*\*\*|Index:|diff --git) )/, '').replace(/\r$/, '');
    if (trimmed.startsWith('diff --git ')) {
      const rest = trimmed.slice('diff --git '.length);
      if (rest.includes('"')) return null;
      // where one name ends and the next begins is not marked: both halves are the same file as a rule
      const middle = rest.indexOf(' b/');
      const halves = middle === -1 ? rest.split(' ') : [rest.slice(0, middle), rest.slice(middle + 1)];
      names.push(...halves.map((name) => ({ name, isWhole: false })));
      continue;
    }
    const header = HEADERS.find((one) => trimmed.startsWith(one));
    if (header === undefined) continue;
    const name = trimmed.slice(header.length).split('\t')[0] ?? '';
    if (name.startsWith('"')) return null;
    if (/^(\d+(,\d+)?|\d+,\d+ ?-+|-*|\*+)( ---| \*{4})?$/.test(name)) continue;
    const isWhole = header.startsWith('rename') || header.startsWith('copy');
    for (const one of new Set([name, name.split(' ')[0] ?? name])) names.push({ name: one, isWhole });
  }
  return names;
}

function stripped({ name, isWhole }: Named, count: number): string | null {
  if (name === '/dev/null' || name === '') return null;
  const drop = isWhole ? Math.max(count - 1, 0) : count;
  if (drop === 0) return name;
  const parts = name.split(/\/+/);
  return parts.length > drop ? parts.slice(drop).join('/') : null;
}

/** The paths of a patch without their first `count` parts; null when they cannot be told. */
export function pathsOfPatch(text: string, count: number): readonly string[] | null {
  const names = namesOf(text);
  if (names === null) return null;
  const paths = names.map((name) => stripped(name, count)).filter((path) => path !== null);
  return [...new Set(paths)];
}

/** The text of patch files, or of standard input when none is given. */
export function patchText(files: readonly Field[], call: Call, shell: Shell): string | null {
  const inputs =
    files.length === 0
      ? [call.stdin]
      : files.map((file) => (file === '-' ? call.stdin : isText(file) ? fileText(file, { shell }, call.reader) : null));
  const texts = inputs.map((input) => (input?.kind === 'text' ? input.text : null));
  return texts.every((text) => text !== null) ? texts.join('\n') : null;
}

export const patch: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'BDdFgioprVYxz'],
    long: [
      'strip=',
      'input=',
      'directory=',
      'output=',
      'reject-file=',
      'prefix=',
      'suffix=',
      'basename-prefix=',
      'fuzz=',
      'ifdef=',
      'get=',
      'version-control=',
      'read-only=',
      'reject-format=',
      'quoting-style=',
      'dry-run',
      'reverse',
      'ed',
      'backup',
    ],
  });
  checkOptions(call, options);
  const { reader } = call;
  if (options.has('dry-run', 'version', 'help', 'v')) return undefined;
  if (options.has('e', 'ed', 'B', 'Y', 'z', 'prefix', 'basename-prefix', 'suffix', 'V', 'g', 'get'))
    reader.unresolved('patch is given options that name other files');
  const shell = inDirectory(options.last('d', 'directory'), call.shell, call);
  const write = (path: Field) => {
    reader.write(shell, path, 'patch', { removes: true });
    if (isText(path))
      for (const ending of ['.orig', '.rej']) reader.write(shell, path + ending, 'patch', { entry: true });
  };
  for (const file of options.all('o', 'output', 'r', 'reject-file'))
    if (file !== '-') reader.write(shell, file, 'patch -o');
  const [original, second] = options.operands;
  if (original !== undefined) {
    if (!options.has('o', 'output')) write(original);
    return undefined;
  }
  const inputs = options.all('i', 'input');
  const text = patchText(second === undefined ? inputs : [second], call, inputs.length > 0 ? shell : call.shell);
  const count = options.last('p', 'strip');
  const paths =
    text === null || (count !== undefined && !isNumber(count)) ? null : pathsOfPatch(text, Number(count ?? 0));
  if (paths === null || (paths.length === 0 && text?.trim() !== '')) {
    reader.unresolved('patch: which files it changes is not known before it runs');
    return undefined;
  }
  for (const path of paths) {
    write(path);
    // without -p the last part of a name may stand for it
    if (count === undefined) write(path.split('/').at(-1) ?? path);
  }
  return undefined;
};

export function isNumber(field: Field): boolean {
  return isText(field) && /^\d+$/.test(field);
}
