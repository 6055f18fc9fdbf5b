// Interpreters that are given code: it is let through where it surely does nothing but print.

import { UNREAD_CODE } from '../../../domain/team/guard.ts';
import { type Options, readOptions } from '../options.ts';
import { readsPython } from '../python-code.ts';
import type { Call, Program } from '../reader.ts';
import { UNKNOWN_INPUT } from '../state.ts';
import { concat, type Field, isText } from '../values.ts';
import { lookUp } from '../variables.ts';
import { writeBelow } from './formatters.ts';
import { checkNodeOptions, NODE_TEXTS, runsFile } from './node-options.ts';
import { isPrinting, isRubyPrinting, isValue } from './printing.ts';
import { readsModule } from './python-modules.ts';
import { readWords, scriptsOf, tellWrites } from './scripts.ts';
import { anyRunner, isToldToUpdate, updateAll } from './snapshots.ts';
import { unknownProgram } from './unknown.ts';

type Language = {
  readonly flags: readonly string[];
  /** Flags after which a text is no code. */
  readonly texts: readonly string[];
  /** Whether the code surely only reads; the files that it loads are run. `flag` is null where it comes from the input. */
  readonly onlyReads: (code: string, flag: string | null, call: Call) => boolean;
};

const PYTHON: Language = {
  flags: ['c'],
  texts: ['W', 'X', 'Q', 'check-hash-based-pycs'],
  onlyReads: (code, _, call) => {
    const read = /\D2(?:\.|$)/.test(call.name) ? null : readsPython(code, (module) => isOwnModule(module, call));
    for (const words of read?.commands ?? []) call.reader.runWords(words, call.shell, UNKNOWN_INPUT, 'program');
    for (const module of read?.modules ?? [])
      for (let path = module; path !== ''; path = path.slice(0, Math.max(0, path.lastIndexOf('.'))))
        runsModule(path, call);
    return read !== null;
  },
};

const NODE: Language = {
  flags: ['e', 'p', 'eval', 'print', 'pe'],
  texts: NODE_TEXTS,
  onlyReads: (code, flag, call) => {
    if (isPrinting(code, ['console.log', 'console.error']) || (flag?.startsWith('p') === true && isValue(code)))
      return true;
    const files = call.reader.onlyReads(code);
    for (const file of files ?? []) if (/^[./]/.test(file)) runsFile(file, call.shell, call.reader);
    return files !== null;
  },
};

/** Reads an interpreter's words: code, a file of code, or code on its standard input. */
function interpreter(language: Language): Program {
  return (call) => {
    const { args, reader, shell, name } = call;
    if (args.length === 1 && ['--version', '-V', '-v', '--help', '-h'].some((flag) => args[0] === flag))
      return undefined;
    const module = language === PYTHON ? moduleOf(args) : null;
    if (module !== null) return checkModule(call, module[0], module.slice(1));
    const flags = [...language.flags, ...language.texts];
    const options = readOptions(args, {
      short: flags.filter((flag) => flag.length === 1),
      long: flags.filter((flag) => flag.length > 1).map((flag) => `${flag}=`),
      isExact: true,
      stopsAtOperand: true,
    });
    if (options.isUncertain) reader.unresolved(`${name} runs code that is known only when it runs`);
    const code = language.flags.flatMap((flag) => options.all(flag).map((text) => ({ flag, text })));
    if (language === NODE) checkNodeOptions(options, shell, reader);
    if (language === NODE && options.has('run')) return runScripts(call, options);
    if (language === NODE && options.has('test') && isToldToUpdate(call))
      updateAll(call, 'node --test that updates files');
    // behind the code it takes more from its input
    if (options.has('i', 'interactive')) checkFile(call, '-');
    if (code.length > 0) return checkCode(code, language, call);
    // an option that is not known may take the word that seems to be the file
    const isStrange = [...options.given.keys()].some((flag) => flag.length > 1 && !language.texts.includes(flag));
    if (isStrange && options.operands.some((arg) => isText(arg) && language.flags.some((flag) => isFlag(arg, flag)))) {
      reader.unresolved(`${name} may be given code`);
    }
    const [file] = options.operands;
    checkFile(call, file, options.has('i', 'interactive') ? undefined : language);
    if (!isText(file)) return undefined;
    if (language === NODE) runsFile(file, shell, reader);
    else reader.executed(shell, file, name);
    // it is a program with verbs of its own
    if (language === PYTHON && /(?:^|\/)manage\.py$/.test(file))
      reader.runWords(['manage.py', ...options.operands.slice(1)], shell, call.stdin, 'program');
    // a tool that lies where it was installed is that tool
    const tool = INSTALLED.exec(file);
    if (language === NODE && tool !== null)
      reader.runWords([tool[1] ?? tool[2] ?? '', ...options.operands.slice(1)], shell, call.stdin, 'program');
    return undefined;
  };
}

/** `node --run`: the script alone, without those before and after it. */
function runScripts(call: Call, options: Options): undefined {
  for (const script of scriptsOf(call, call.shell, options.all('run').filter(isText))) {
    tellWrites(call, script, call.shell);
    readWords(call, call.shell, script, options.operands);
  }
  return undefined;
}

const INSTALLED = /(?:^|\/)node_modules\/(?:\.bin\/([^/]+)|([^@./][^/]*)\/.*)$/;

function isFlag(arg: string, flag: string): boolean {
  if (flag.length === 1) return arg.startsWith('-') && !arg.startsWith('--') && arg.includes(flag);
  return arg === `--${flag}` || arg.startsWith(`--${flag}=`);
}

/** Interpreters whose code is not read at all: a file first is a program like others, anything else may be code. */
const unreadInterpreter: Program = (call) => {
  const [first] = call.args;
  if (call.args.length === 1 && ['--version', '-v', '-V', '--help', '-h'].some((flag) => first === flag))
    return undefined;
  if (call.args.every(isText) && ASKING[call.name]?.test(call.args.join(' ')) === true) return undefined;
  const [, code, ...others] = call.args;
  if (call.name === 'ruby' && first === '-e' && isText(code) && others.length === 0 && isRubyPrinting(code))
    return undefined;
  if (first !== undefined && (!isText(first) || first.startsWith('-'))) {
    call.reader.unresolved(`${call.name} runs code that is not read`);
    return undefined;
  }
  checkFile(call, first);
  if (!isText(first)) return undefined;
  const before = call.reader.changes();
  // tools of the project that are known by their own names
  const tool = /(?:^|\/)(?:bin\/([\w-]+)|(artisan))$/.exec(first);
  if (call.name === 'php' && tool !== null)
    call.reader.runWords([tool[1] ?? tool[2] ?? '', ...call.args.slice(1)], call.shell, call.stdin, 'program');
  call.reader.executed(call.shell, first, call.name, before);
  return undefined;
};

/** Said of code that may write: that a path stands in it is no help. */
export function unreadCode(by: string): string {
  return `${by}: ${UNREAD_CODE}`;
}

function checkCode(
  code: readonly { readonly flag: string; readonly text: Field }[],
  language: Language,
  call: Call,
): undefined {
  const [only, ...others] = code;
  const text = only?.text;
  const flag = only?.flag ?? '';
  const harmless = isText(text) && others.length === 0 && language.onlyReads(text, flag, call);
  if (!harmless) call.reader.unresolved(unreadCode(`${call.name} -${flag}`));
  return undefined;
}

/** No file: the code comes from standard input, and is looked at where its language is given. */
export function checkFile(call: Call, file: Field | undefined, language?: Language): void {
  const isInput =
    file === undefined || file === '-' || file === '/dev/stdin' || (isText(file) && /^\/(dev|proc)\//.test(file));
  if (!isInput || (file === undefined && call.stdin.kind === 'none')) return;
  if (call.stdin.kind === 'text' && (call.stdin.text.trim() === '' || language?.onlyReads(call.stdin.text, null, call)))
    return;
  call.reader.unresolved(unreadCode(`${call.name} runs code from its standard input`));
}

/** Python's module with its words: behind `-m` no option is Python's own. */
function moduleOf(args: readonly Field[]): readonly Field[] | null {
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    if (!isText(arg) || !/^-[^-]/.test(arg)) return null;
    const [, letters = '', end = '', attached = ''] = /^-([^cmWXQ]*)([cmWXQ]?)(.*)$/s.exec(arg) ?? [];
    if (letters.includes('-') || end === 'c') return null;
    if (end === 'm') return attached === '' ? args.slice(index + 1) : [attached, ...args.slice(index + 1)];
    if (end !== '' && attached === '') index += 1;
  }
  return null;
}

/** Directories in which Python looks for a module first. */
function modulePlaces({ reader, shell }: Call): readonly string[] {
  const places = lookUp('PYTHONPATH', shell, reader.context);
  return ['.', ...(typeof places === 'string' ? places.split(':').filter((one) => one !== '') : [])];
}

/** Whether Python finds the module in the project: a file, a package, or a file below directories that are no packages. */
function isOwnModule(module: string, call: Call): boolean {
  const { reader, shell, args } = call;
  // with these it does not look there
  if (args.some((arg) => isText(arg) && /^-[A-Za-z]*[IP]/.test(arg))) return false;
  const [root = ''] = module.split('.');
  return modulePlaces(call)
    .filter((place) => !/(?:^|\/)(?:site|dist)-packages(?:\/|$)/.test(place))
    .flatMap((place) => [root, module.replaceAll('.', '/')].map((path) => `${place}/${path}`))
    .some((path) => [`${path}.py`, `${path}/__init__.py`].some((file) => reader.kindAt(shell, file) === 'file'));
}

/** Files of the project in which Python may find a module. */
function runsModule(module: string, call: Call): void {
  const { reader, shell, name } = call;
  const path = module.replaceAll('.', '/');
  for (const place of modulePlaces(call))
    for (const file of [`${path}.py`, `${path}/__main__.py`, `${path}/__init__.py`])
      reader.executed(shell, `${place}/${file}`, name, 'guess');
}

/** Modules of Python whose words name files that they write. */
function checkModule(call: Call, module: Field | undefined, operands: readonly Field[]): undefined {
  const { reader, shell } = call;
  const plain = operands.filter((operand) => !isText(operand) || !operand.startsWith('-'));
  const has = (...flags: readonly string[]) => operands.some((one) => isText(one) && flags.includes(one));
  if (!isText(module)) {
    reader.unresolved(`${call.name} -m runs a module that is known only when it runs`);
    return undefined;
  }
  runsModule(module, call);
  if (module === 'pydoc') {
    // pages of a directory are named after what is in it
    if (has('-w'))
      for (const one of plain)
        reader.write(shell, isText(one) && !one.includes('/') ? `${one}.html` : '.', 'pydoc -w', { tree: true });
  } else if (module === 'uu') {
    for (const file of plain.slice(1)) if (file !== '-') reader.write(shell, file, `${call.name} -m uu`);
  } else if ((module === 'zipfile' || module === 'tarfile') && has('-c', '--create')) {
    for (const file of plain.slice(0, 1)) reader.write(shell, file, `${call.name} -m ${module}`);
  } else if ((module === 'zipfile' || module === 'tarfile') && has('-l', '--list', '-t', '--test')) return undefined;
  else if (module === 'json.tool') {
    for (const file of plain.slice(1)) reader.write(shell, file, `${call.name} -m json.tool`);
  } else if (module === 'fileinput') editEach(call, operands);
  else if (module === 'venv' || module === 'virtualenv') {
    for (const operand of operands)
      if (!isText(operand) || !operand.startsWith('-'))
        // its programs are links to where Python lies
        reader.write(shell, operand, `${call.name} -m ${module}`, { tree: true, entry: true });
  } else if (readsModule(call, module, operands, (code) => PYTHON.onlyReads(code, 'c', call))) return undefined;
  else if (MODULES.has(module)) reader.unresolved(`${call.name} -m ${module} writes files that are not worked out`);
  // most are programs of the same name as well
  else reader.runWords([module, ...operands], shell, call.stdin, 'program');
  return undefined;
}

/** `-i` changes each file in its place, over a copy beside it. */
function editEach({ reader, shell, name }: Call, args: readonly Field[]): void {
  const options = readOptions(args, { short: ['b'], stopsAtOperand: true });
  const by = `${name} -m fileinput -i`;
  if (options.isUncertain) reader.unresolved(`${by} is given a word that is known only when it runs`);
  if (!options.has('i')) return;
  const ending = options.last('b') ?? '.bak';
  for (const file of options.operands) {
    if (file === '-') continue;
    reader.write(shell, file, by);
    reader.write(shell, concat(file, ending === '' ? '.bak' : ending), by);
  }
}

const MODULES: ReadonlySet<string> = new Set(
  'zipfile tarfile gzip zipapp lib2to3 pdb trace profile cProfile timeit code runpy compileall py_compile base64 ensurepip'.split(
    ' ',
  ),
);

const unknownCode: Program = (call) => {
  if (call.args.length === 1 && call.args[0] === '--version') return undefined;
  if (call.args.every(isText) && ASKING[call.name]?.test(call.args.join(' ')) === true) return undefined;
  call.reader.unresolved(`${call.name} runs code that is not read`);
  return undefined;
};

/** Words with which they tell something, and run nothing. */
const ASKING: Readonly<Record<string, RegExp>> = {
  crontab: /^-l$/,
  tmux: /^(ls|list-sessions)$/,
  screen: /^-(ls|list)$/,
  nc: /^-[vwnu\d]*z[vwnu\d]*( [\w.:-]+)*(?<! -[^ ]*[ec].*)$/,
  php: /^-l [^-]/,
  ruby: /^-c [^-]/,
};

/** deno and bun: `eval` is code, anything else is as any program. */
const runtime: Program = (call) => {
  const options = readOptions(call.args, { long: ['eval=', 'print='], short: ['e', 'p'], stopsAtOperand: true });
  const [verb] = options.operands;
  if (
    options.has('e', 'p', 'eval', 'print') ||
    verb === 'eval' ||
    verb === 'repl' ||
    verb === '-' ||
    (verb === 'run' && call.args.includes('-'))
  ) {
    call.reader.unresolved(`${call.name} runs code that is not read`);
  }
  if (call.name === 'deno' && (verb === 'fmt' || verb === 'lint')) {
    const isChecked = call.args.includes('--check') || call.args.includes('--fix');
    const files = options.operands.slice(1).filter((one) => !isText(one) || !one.startsWith('-'));
    if ((verb === 'fmt') !== isChecked) for (const one of files.length === 0 ? ['.'] : files) writeBelow(call, one);
  } else if (verb === 'test') anyRunner({ ...call, args: call.args.slice(1) });
  else if (verb !== 'run') unknownProgram(call);
  const file =
    verb === 'run' ? options.operands.find((one, index) => index > 0 && (!isText(one) || !one.startsWith('-'))) : verb;
  if (isText(file) && verb !== 'test') call.reader.executed(call.shell, file, call.name);
  return undefined;
};

export const CODE_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['python', interpreter(PYTHON)],
  ['pypy', interpreter(PYTHON)],
  ['node', interpreter(NODE)],
  ['nodejs', interpreter(NODE)],
  ['tsx', interpreter(NODE)],
  ['ts-node', interpreter(NODE)],
  ...['ruby', 'php', 'lua', 'luajit', 'jruby', 'macruby'].map((name): readonly [string, Program] => [
    name,
    unreadInterpreter,
  ]),
  ['deno', runtime],
  ['bun', runtime],
  ...[
    'tclsh',
    'expect',
    'wish',
    'Rscript',
    'R',
    'osascript',
    'pwsh',
    'guile',
    'sbcl',
    'clisp',
    'julia',
    'groovy',
    'jshell',
    'irb',
    'elixir',
    'erl',
    'iex',
    'ghci',
    'ocaml',
    'scala',
    'm4',
    'dc',
    'gdb',
    'lldb',
    'octave',
    'jjs',
    'ipython',
    'fish',
    'csh',
    'tcsh',
    'parallel',
    'at',
    'batch',
    'crontab',
    'systemd-run',
    'tmux',
    'screen',
    'entr',
    'socat',
    'nc',
    'ncat',
    'emacs',
    'ssh',
    'chroot',
    'capsh',
    'gpg-agent',
    'logrotate',
    'run-parts',
    'nsenter',
    'mmv',
    'rename',
    'prename',
    'vidir',
    'qmv',
  ].map((name): readonly [string, Program] => [name, unknownCode]),
];
