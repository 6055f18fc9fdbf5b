// Programs of builds and of the web that copy, make or take away what their words name.

import { readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { concat, type Field, isText } from '../values.ts';
import { checkOptions } from './files.ts';

/** Writes what `-o` and `--output` name. */
const output: Program = (call) => {
  const options = readOptions(call.args, { short: ['o'], long: ['output=', 'output-file='] });
  checkOptions(call, options);
  for (const path of options.all('o', 'output', 'output-file')) {
    if (path !== '' && path !== '-') call.reader.write(call.shell, path, `${call.name} -o`, { tree: true });
  }
  return undefined;
};

/** It changes what it is given in its place, unless it is told where else that goes. */
const svgo: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'iofsp'],
    long: ['input=', 'output=', 'folder=', 'string=', 'config=', 'precision=', 'indent=', 'datauri=', 'exclude='],
    isExact: true,
  });
  checkOptions(call, options);
  if (options.has('h', 'help', 'v', 'version', 'show-plugins')) return undefined;
  const named = options.all('o', 'output');
  const isPrinted = options.has('s', 'string') || options.operands.includes('-');
  const given = [...options.all('i', 'input', 'f', 'folder'), ...options.operands];
  for (const path of named.length > 0 ? named : isPrinted ? [] : given)
    if (path !== '' && path !== '-') call.reader.write(call.shell, path, call.name, { tree: true });
  return undefined;
};

/** Options by which a browser writes a file, and its name where none is given. */
const SHOTS: Readonly<Record<string, string>> = { screenshot: 'screenshot.png', 'print-to-pdf': 'output.pdf' };
const BROWSER_PLACES = ['user-data-dir', 'log-file', 'log-net-log', 'disk-cache-dir', 'crash-dumps-dir'];

const browser: Program = (call) => {
  const names = [...Object.keys(SHOTS), ...BROWSER_PLACES];
  const options = readOptions(call.args, { isExact: true, singleDash: true, long: names.map((name) => `-${name}?`) });
  checkOptions(call, options);
  const places = names.map((name) => ({ unnamed: SHOTS[name], given: options.all(name, `-${name}`) }));
  for (const { unnamed, given } of places)
    for (const text of given) {
      const path = text === '' ? unnamed : text;
      if (path !== undefined) call.reader.write(call.shell, path, call.name, { tree: unnamed === undefined });
    }
  return undefined;
};

/** The name of a picture may follow its flag; an address in its place is what is shown. */
const firefox: Program = (call) => {
  const options = readOptions(call.args, {
    isExact: true,
    singleDash: true,
    long: ['screenshot', '-screenshot', 'profile', '-profile'].map((name) => `${name}=`),
  });
  checkOptions(call, options);
  for (const text of options.all('screenshot', '-screenshot')) {
    const isUnnamed = text === '' || (isText(text) && /^(?:-|\w+:\/\/|about:|data:)/.test(text));
    call.reader.write(call.shell, isUnnamed ? 'screenshot.png' : text, `${call.name} --screenshot`);
  }
  for (const path of options.all('profile', '-profile')) call.reader.write(call.shell, path, call.name, { tree: true });
  return undefined;
};

/** Writes its last operand, of two or more. */
function lastOperand(call: Call, operands: readonly Field[]): undefined {
  const path = operands.length > 1 ? operands.at(-1) : undefined;
  if (path !== undefined && path !== '-') call.reader.write(call.shell, path, call.name, { tree: true });
  return undefined;
}

const copier: Program = (call) => {
  const options = readOptions(call.args);
  checkOptions(call, options);
  return lastOperand(call, options.operands);
};

const everyOperand: Program = (call) => {
  const options = readOptions(call.args);
  checkOptions(call, options);
  for (const operand of options.operands) call.reader.write(call.shell, operand, call.name, { tree: true });
  return undefined;
};

/** One operand is changed in its place; of two the second is written. */
const objcopy: Program = (call) => {
  const options = readOptions(call.args, { short: [...'IOFBRjNKLGW'] });
  checkOptions(call, options);
  const path = options.operands.at(-1);
  if (path !== undefined) call.reader.write(call.shell, path, call.name);
  return undefined;
};

/** `a.scss b.css`, or pairs of both with a colon between. */
const sass: Program = (call) => {
  const options = readOptions(call.args, { short: ['I'], long: ['load-path=', 'style='] });
  checkOptions(call, options);
  const pairs = options.operands.flatMap((operand) => (isText(operand) ? /:(.+)$/s.exec(operand)?.slice(1) : []) ?? []);
  if (pairs.length === 0) return lastOperand(call, options.operands);
  for (const path of pairs) call.reader.write(call.shell, path, call.name, { tree: true });
  return undefined;
};

/** What lies on another machine, in a container or in a store. */
const ELSEWHERE = /^(?:[\w-]+:\/\/|[\w./-]+:)/;

/** `docker cp`, `aws s3 cp`: behind these verbs its last word. */
export function behind(...verbs: readonly string[]): Program {
  return (call) => {
    const { operands } = readOptions(call.args);
    const words = verbs.flatMap((verb) => {
      const parts = verb.split(' ');
      return parts.every((part, index) => operands[index] === part) ? [operands.slice(parts.length)] : [];
    });
    const path = words[0]?.at(-1);
    return words[0] === undefined || (isText(path ?? '') && ELSEWHERE.test(String(path)))
      ? undefined
      : lastOperand(call, words[0]);
  };
}

/** The portable commands of `cmake -E` are those of the shell. */
const CMAKE: ReadonlyMap<string, readonly string[]> = new Map([
  ['copy', ['cp', '-r']],
  ['copy_if_different', ['cp']],
  ['copy_directory', ['cp', '-rT']],
  ['rename', ['mv']],
  ['remove', ['rm']],
  ['rm', ['rm']],
  ['remove_directory', ['rm', '-r']],
  ['make_directory', ['mkdir', '-p']],
  ['touch', ['touch']],
  ['touch_nocreate', ['touch']],
  ['create_symlink', ['ln', '-s']],
  ['create_hardlink', ['ln']],
  ['tar', ['tar']],
  ['env', ['env']],
  ['time', ['time']],
  ['chdir', ['env', '-C']],
]);

const cmake: Program = (call) => {
  const { args, reader, shell } = call;
  const [flag, verb, ...rest] = args;
  const meant = flag === '-E' && verb !== undefined && isText(verb) ? CMAKE.get(verb) : undefined;
  if (meant !== undefined) return runWords(call, [...meant, ...rest]);
  if (flag === '-E' || flag === '--build') return undefined;
  const options = readOptions(args, {
    isExact: true,
    short: [...'PSBCDUGTA'],
    long: ['install=', 'prefix=', 'toolchain=', 'preset=', 'graphviz=', 'trace-redirect=', 'profiling-output='],
  });
  checkOptions(call, options);
  for (const script of options.all('P', 'C', 'toolchain')) reader.executed(shell, script, 'cmake');
  for (const file of options.all('graphviz', 'trace-redirect', 'profiling-output'))
    reader.write(shell, file, 'cmake', { tree: true });
  if (options.has('P')) return undefined;
  for (const directory of [...options.all('S'), ...options.operands])
    if (isText(directory)) reader.executed(shell, `${directory}/CMakeLists.txt`, 'cmake');
  // A plain name is a directory of its own for what is built: nobody's business, as with make.
  const inside = options.all('B').filter((path) => !isText(path) || path.includes('/') || path.startsWith('.'));
  for (const directory of [...inside, ...options.all('prefix')])
    reader.write(shell, directory, 'cmake', { tree: true });
  // without a directory for what is built it is built here
  if (!options.has('B', 'install') && (options.operands.length > 0 || options.has('S')))
    reader.write(shell, '.', 'cmake', { tree: true, entry: true });
  return undefined;
};

/** Its log, and the program whose output is kept there. */
const logsave: Program = (call) => {
  const [log, ...rest] = readOptions(call.args, { stopsAtOperand: true }).operands;
  if (log !== undefined) call.reader.write(call.shell, log, 'logsave');
  return rest[0] === undefined || rest[0] === '-' ? undefined : runWords(call, rest);
};

/** With `-G` the second of its files is written. */
const ptx: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'FMSWbgiow'],
    long: ['traditional', 'width=', 'ignore-file=', 'only-file='],
  });
  checkOptions(call, options);
  if (options.has('G', 'traditional'))
    for (const file of options.operands.slice(1)) call.reader.write(call.shell, file, 'ptx -G');
  return undefined;
};

/** Changes pictures in their place, or into a directory. */
const mogrify: Program = (call) => {
  const at = call.args.indexOf('-path');
  const directory = at === -1 ? undefined : call.args[at + 1];
  const files = call.args.filter((arg) => !isText(arg) || !arg.startsWith('-'));
  for (const file of directory === undefined ? files : [directory])
    call.reader.write(call.shell, file, 'mogrify', { tree: true });
  return undefined;
};

const magick: Program = (call) =>
  call.args[0] === 'mogrify' ? mogrify({ ...call, args: call.args.slice(1) }) : copier(call);

const shx: Program = (call) => runWords(call, call.args);

function runWords({ reader, shell, stdin }: Call, words: readonly Field[]): undefined {
  reader.runWords(words, shell, stdin, 'program');
  return undefined;
}

/** Its options for other languages are `--<language>_out=DIR`. */
const protoc: Program = (call) => {
  for (const [index, one] of call.args.entries()) {
    // the text may be the next word
    const isOpen = isText(one) && /^(?:--\w+_out|-o|--dependency_out)$/.test(one);
    const arg: Field = isOpen ? concat(`${one}=`, call.args[index + 1] ?? '') : one;
    const path = /^(?:--\w+_out=(?:[^:]*:)?|-o=?|--dependency_out=)(.*)$/s.exec(isText(arg) ? arg : arg.lead)?.[1];
    if (path === undefined) continue;
    if (isText(arg)) call.reader.write(call.shell, path, 'protoc', { tree: true });
    else call.reader.unresolved('protoc writes where it is told only when it runs');
  }
  return undefined;
};

const updater: Program = (call) => {
  const options = readOptions(call.args, { long: ['upgrade', 'packageFile='] });
  if (options.has('u', 'upgrade'))
    call.reader.write(call.shell, options.last('packageFile') ?? 'package.json', `${call.name} -u`);
  return undefined;
};

function named(names: string, program: Program): readonly (readonly [string, Program])[] {
  return names.split(' ').map((name) => [name, program]);
}

export const OUTPUT_PROGRAMS: readonly (readonly [string, Program])[] = [
  ...named('openapi-typescript openapi-generator openapi-generator-cli sdiff uudecode', output),
  ...named('cpy copyfiles cpx cpx2 ncp degit convert ffmpeg wkhtmltopdf', copier),
  ['svgo', svgo],
  ...named('chromium chromium-browser chrome google-chrome google-chrome-stable microsoft-edge brave-browser', browser),
  ...named('firefox firefox-esr', firefox),
  ...named('rimraf del del-cli mkdirp make-dir', everyOperand),
  ...named('ncu npm-check-updates', updater),
  ['kubectl', behind('cp')],
  ['aws', behind('s3 cp', 's3 mv', 's3 sync')],
  ['svn', behind('checkout', 'co', 'export')],
  ['protoc', protoc],
  ['cmake', cmake],
  ['logsave', logsave],
  ['ptx', ptx],
  ['mogrify', mogrify],
  ...named('magick gm', magick),
  ['shx', shx],
  ['sass', sass],
  ['objcopy', objcopy],
];
