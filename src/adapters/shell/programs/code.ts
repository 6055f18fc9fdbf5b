// Interpreters that are given code: it is let through where it surely does nothing but print.

import { type Options, readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { isPerlHarmless } from './perl.ts';

const LITERALS = /^(\d[\w.]*|True|False|None|true|false|null)$/;

/** Words, numbers, strings and signs of a line of code; null when a string does not end or is more than a text. */
function tokensOf(code: string): readonly string[] | null {
  const tokens: string[] = [];
  let rest = code;
  while (rest !== '') {
    const found =
      /^(?:[ \t]+|'(?:[^'\\\n]|\\[^\n])*'|"(?:[^"\\\n]|\\[^\n])*"|\d[\w.]*|[A-Za-z_$][\w$]*|[\n;(),.+*\-%])/.exec(
        rest,
      )?.[0];
    if (found === undefined) return null;
    if (found.trim() !== '' || found === '\n') tokens.push(found);
    rest = rest.slice(found.length);
  }
  return tokens;
}

const isString = (token: string): boolean => token.startsWith("'") || token.startsWith('"');

/** Whether the code is nothing but calls of the given names with texts and numbers. */
function isPrinting(code: string, names: readonly string[]): boolean {
  const tokens = tokensOf(code);
  if (tokens === null) return false;
  let depth = 0;
  let index = 0;
  const takes = (words: readonly string[]) => words.every((word, offset) => tokens[index + offset] === word);
  while (index < tokens.length) {
    const token = tokens[index] ?? '';
    const call =
      depth === 0 ? names.map((name) => name.split(/(\.)/)).find((words) => takes([...words, '('])) : undefined;
    if (call !== undefined) {
      index += call.length + 1;
      depth += 1;
      continue;
    }
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    else if (token === ';' || token === '\n') {
      if (depth !== 0) return false;
    } else if (depth === 0) return false;
    else if (!isString(token) && !LITERALS.test(token) && !/^[,+*%-]$/.test(token)) return false;
    if (depth < 0) return false;
    index += 1;
  }
  return depth === 0;
}

/** `require('./package.json').version` and the like: what node -p shows without running anything. */
function isValue(code: string): boolean {
  const tokens = tokensOf(code) ?? [];
  const [first, open, path = '', close, ...names] = tokens;
  if (first === 'process') return tokens.join('') === 'process.version' || tokens.join('') === 'process.platform';
  if (first !== 'require' || open !== '(' || close !== ')' || !/^['"]\.\/[\w./-]+\.json['"]$/.test(path)) return false;
  return names.every((name, index) => (index % 2 === 0 ? name === '.' : /^[A-Za-z_]\w*$/.test(name)));
}

type Language = {
  readonly flags: readonly string[];
  /** Flags after which a text is no code. */
  readonly texts: readonly string[];
  readonly isHarmless: (code: string, flag: string) => boolean;
};

const PYTHON: Language = {
  flags: ['c'],
  texts: ['W', 'X', 'Q', 'm', 'check-hash-based-pycs'],
  isHarmless: (code) => isPrinting(code, ['print']),
};

const NODE: Language = {
  flags: ['e', 'p', 'eval', 'print', 'pe'],
  texts: [
    'r',
    'require',
    'C',
    'conditions',
    'import',
    'loader',
    'experimental-loader',
    'input-type',
    'env-file',
    'title',
  ],
  isHarmless: (code, flag) =>
    isPrinting(code, ['console.log', 'console.error']) || (flag.startsWith('p') && isValue(code)),
};

const PERL: Language = {
  flags: ['e', 'E'],
  texts: ['I', 'M', 'm', 'F', 'x', 'C', 'D', 'l', '0', 'i'],
  isHarmless: isPerlHarmless,
};
const RUBY: Language = {
  flags: ['e'],
  texts: ['I', 'r', 'C', 'E', 'F', 'x', 'i', 'K', 'T', '0', 'W'],
  isHarmless: () => false,
};
const PHP: Language = {
  flags: ['r', 'B', 'R', 'E', 'run'],
  texts: ['c', 'd', 'f', 'S', 't', 'z'],
  isHarmless: () => false,
};
const LUA: Language = { flags: ['e'], texts: ['l'], isHarmless: () => false };

/** Reads an interpreter's words: code, a file of code, or code on its standard input. */
function interpreter(language: Language): Program {
  return (call) => {
    const { args, reader, shell, name } = call;
    if (args.length === 1 && ['--version', '-V', '-v', '--help', '-h'].some((flag) => args[0] === flag))
      return undefined;
    const long = [...language.flags, ...language.texts].filter((flag) => flag.length > 1);
    const short = [...language.flags, ...language.texts].filter((flag) => flag.length === 1);
    const attached =
      language === PERL
        ? ['i?', 'l?', '0?', 'C?', 'D?', 'x?', 'F?']
        : language === RUBY
          ? ['i?', '0?', 'x?', 'W?']
          : [];
    const kept = short.filter((letter) => !attached.includes(`${letter}?`));
    const options = readOptions(args, {
      short: [...kept, ...attached],
      long: long.map((flag) => `${flag}=`),
      stopsAtOperand: true,
    });
    if (options.isUncertain && !isText(options.operands[0]))
      reader.unresolved(`${name} runs code that is known only when it runs`);
    const code = language.flags.flatMap((flag) => options.all(flag).map((text) => ({ flag, text })));
    for (const text of options.all('import', 'loader', 'experimental-loader', 'r', 'require')) {
      if (!isText(text) || text.startsWith('data:'))
        reader.unresolved(`${name} loads code that is known only when it runs`);
    }
    if (options.has('i') && (language === PERL || language === RUBY))
      writeInPlace(call, options.last('i') ?? '', options.operands, code.length > 0);
    if (language === PERL && code.length > 0) checkPerl(call, options);
    if (code.length > 0) return checkCode(code, language, call);
    if (options.has('m') && language === PYTHON) return checkModule(call, options.all('m')[0], options.operands);
    checkFile(call, options.operands[0]);
    if (isText(options.operands[0])) reader.executed(shell, options.operands[0], name);
    return undefined;
  };
}

/** Perl loads modules, and opens files whose names hold `|` or `>` as commands and for writing. */
function checkPerl(call: Call, options: Options): void {
  const isOdd = options.operands.some((operand) => !isText(operand) || /^[\s+]|[|<>&]/.test(operand));
  if (isOdd || options.has('M', 'm', 'F', 'd', 'x'))
    call.reader.unresolved(`${call.name} is given words that may be code`);
}

function checkCode(
  code: readonly { readonly flag: string; readonly text: Field }[],
  language: Language,
  call: Call,
): undefined {
  // several pieces are one program
  const text = code.map((piece) => piece.text);
  const flag = code[0]?.flag ?? '';
  const harmless = text.every(isText) && language.isHarmless(text.join('\n'), flag);
  if (!harmless) call.reader.unresolved(`${call.name} -${flag}: its code may write files`);
  return undefined;
}

function writeInPlace(call: Call, suffix: Field, operands: readonly Field[], hasCode: boolean): void {
  for (const operand of hasCode ? operands : operands.slice(1)) {
    call.reader.write(call.shell, operand, `${call.name} -i`);
    if (suffix === '') continue;
    if (!isText(operand) || !isText(suffix) || suffix.includes('*') || suffix.includes('/')) {
      call.reader.unresolved(`${call.name} -i keeps a copy under a name that is not worked out`);
    } else call.reader.write(call.shell, operand + suffix, `${call.name} -i`);
  }
}

/** No file: the code comes from standard input. */
function checkFile(call: Call, file: Field | undefined): void {
  const isInput =
    file === undefined || file === '-' || file === '/dev/stdin' || (isText(file) && file.startsWith('/dev/fd/'));
  if (!isInput || (file === undefined && call.stdin.kind === 'none')) return;
  if (call.stdin.kind === 'text' && call.stdin.text.trim() === '') return;
  call.reader.unresolved(`${call.name} runs code from its standard input`);
}

/** Modules of Python whose words name files that they write. */
function checkModule(call: Call, module: Field | undefined, operands: readonly Field[]): undefined {
  const { reader, shell } = call;
  if (!isText(module)) reader.unresolved(`${call.name} -m runs a module that is known only when it runs`);
  else if (module === 'json.tool') {
    const files = operands.filter((operand) => !isText(operand) || !operand.startsWith('-'));
    for (const file of files.slice(1)) reader.write(shell, file, `${call.name} -m json.tool`);
  } else if (module === 'venv' || module === 'virtualenv') {
    for (const operand of operands)
      if (!isText(operand) || !operand.startsWith('-'))
        reader.write(shell, operand, `${call.name} -m ${module}`, { tree: true });
  } else if (module === 'black' || module === 'ruff' || module === 'isort' || module === 'autopep8') {
    reader.runWords([module, ...operands], shell, call.stdin, 'program');
  } else if (MODULES.has(module)) reader.unresolved(`${call.name} -m ${module} writes files that are not worked out`);
  return undefined;
}

const MODULES: ReadonlySet<string> = new Set(
  'zipfile tarfile gzip zipapp lib2to3 pdb trace profile cProfile timeit code runpy compileall py_compile base64 ensurepip'.split(
    ' ',
  ),
);

const sqlite: Program = (call) => {
  const isQuestion = call.args.length === 1 && (call.args[0] === '--version' || call.args[0] === '-version');
  if (isQuestion) return undefined;
  const file = call.args.find((arg) => !isText(arg) || !arg.startsWith('-'));
  call.reader.unresolved('sqlite3: what its statements write is not known before they run');
  if (file !== undefined && file !== ':memory:' && !call.args.includes('-readonly'))
    call.reader.write(call.shell, file, 'sqlite3');
  return undefined;
};

const unknownCode: Program = (call) => {
  if (call.args.length === 1 && call.args[0] === '--version') return undefined;
  call.reader.unresolved(`${call.name} runs code that is not read`);
  return undefined;
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
  return undefined;
};

export const CODE_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['python', interpreter(PYTHON)],
  ['pypy', interpreter(PYTHON)],
  ['node', interpreter(NODE)],
  ['nodejs', interpreter(NODE)],
  ['tsx', interpreter(NODE)],
  ['ts-node', interpreter(NODE)],
  ['perl', interpreter(PERL)],
  ['ruby', interpreter(RUBY)],
  ['php', interpreter(PHP)],
  ['lua', interpreter(LUA)],
  ['luajit', interpreter(LUA)],
  ['sqlite3', sqlite],
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
    'psql',
    'mysql',
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
    'nsenter',
    'mmv',
    'rename',
    'prename',
    'vidir',
    'qmv',
  ].map((name): readonly [string, Program] => [name, unknownCode]),
];
