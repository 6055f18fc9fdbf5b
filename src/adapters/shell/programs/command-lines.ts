// Programs that are given command lines or names of scripts to run: side by side, again and again, or when files change.

import { type OptionsSpec, readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { hasScript } from './scripts.ts';
import { runCode } from './shells.ts';
import { inDirectory, runProgram } from './wrappers.ts';

type Lines = {
  readonly spec: OptionsSpec;
  /** Options whose text is a command line. */
  readonly codes?: readonly string[];
  /** Options whose text is a file that is written. */
  readonly outputs?: readonly string[];
  /** What the other words are: lines of their own, names of scripts, words of one line, or nothing of that kind. */
  readonly words: 'lines' | 'scripts' | 'one line' | 'none';
};

/** Scripts of other packages and those that a pattern stands for are not looked for. */
function lineOf(word: string, words: Lines['words'], call: Call): string | null {
  const [, manager, named] = /^(npm|yarn|pnpm|bun|node):(\S.*)$/s.exec(word) ?? [];
  const isNamed = words === 'scripts' || manager !== undefined || hasScript(call, call.shell, word);
  if (!isNamed) return /^(?:https?|tcp|socket|file):|^\d+$/.test(word) ? null : word;
  return /[*{]/.test(word) ? null : `${manager ?? 'npm'} run ${named ?? word}`;
}

function runLine(word: Field, words: Lines['words'], call: Call): void {
  const line = isText(word) ? lineOf(word, words, call) : word;
  if (line !== null) runCode(line, call);
}

const commandLines =
  ({ spec, codes = [], outputs = [], words }: Lines): Program =>
  (call) => {
    const { reader, shell, name } = call;
    const options = readOptions(call.args, spec);
    if (options.isUncertain) reader.unresolved(`${name} runs what is known only when it runs`);
    for (const file of options.all(...outputs)) reader.write(shell, file, name);
    for (const code of options.all(...codes)) runCode(code, call);
    if (words === 'one line') {
      if (options.operands.every(isText)) runCode(options.operands.join(' '), call);
      else reader.unresolved(`${name} runs what is known only when it runs`);
    } else if (words !== 'none') for (const word of options.operands) runLine(word, words, call);
    return undefined;
  };

/** What it watches and runs is a script, unless it is told what runs that. */
const nodemon: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'xweidICV'],
    long: ['exec=', 'watch=', 'ext=', 'ignore=', 'delay=', 'config=', 'cwd=', 'signal='],
    stopsAtOperand: true,
  });
  const { reader, shell } = call;
  if (options.isUncertain) reader.unresolved('nodemon runs what is known only when it runs');
  const code = options.last('x', 'exec');
  const [first] = options.operands;
  if (code === undefined) {
    if (first !== undefined) reader.executed(shell, first, 'nodemon');
  } else if (isText(code) && options.operands.every(isText)) runCode([code, ...options.operands].join(' '), call);
  else reader.unresolved('nodemon runs what is known only when it runs');
  return undefined;
};

/** The command stands behind `--`. */
const onchange: Program = (call) => {
  const at = call.args.indexOf('--');
  return at === -1 ? undefined : runProgram(call.args.slice(at + 1), call, call.shell);
};

const concurrently = commandLines({
  spec: {
    short: [...'ncmlst'],
    long: (
      'names= name-separator= prefix= prefix-colors= prefix-length= timestamp-format= max-processes= success= hide= kill-signal= ' +
      'restart-tries= restart-after= default-input-target= cwd= teardown='
    ).split(' '),
  },
  codes: ['teardown'],
  words: 'lines',
});

const hyperfine = commandLines({
  spec: {
    short: [...'wmMrSPDLupsciCn'],
    long: (
      'warmup= min-runs= max-runs= runs= setup= prepare= conclude= cleanup= parameter-scan= parameter-step-size= parameter-list= ' +
      'shell= style= sort= time-unit= export-asciidoc= export-csv= export-json= export-markdown= export-orgmode= output= input= ' +
      'command-name= reference='
    ).split(' '),
  },
  codes: ['s', 'setup', 'p', 'prepare', 'C', 'conclude', 'c', 'cleanup', 'reference'],
  outputs: ['export-asciidoc', 'export-csv', 'export-json', 'export-markdown', 'export-orgmode'],
  words: 'lines',
});

const watchexec = commandLines({
  spec: {
    short: [...'weisdfoEN'],
    long: (
      'watch= exts= filter= ignore= signal= stop-signal= stop-timeout= debounce= shell= env= workdir= project-origin= ' +
      'on-busy-update= delay-run= poll? clear?'
    ).split(' '),
    stopsAtOperand: true,
  },
  words: 'one line',
});

/** What `-x` is given are words of cargo's. */
const cargoWatch: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'xswidCEeF'],
    long: 'exec= shell= watch= ignore= delay= workdir= env= env-file= features= use-shell='.split(' '),
    stopsAtOperand: true,
  });
  const { reader, shell } = call;
  const inside = inDirectory(options.last('C', 'workdir'), shell, call);
  for (const code of options.all('s', 'shell')) runCode(code, { ...call, shell: inside });
  for (const words of options.all('x', 'exec')) {
    if (isText(words)) runCode(`cargo ${words}`, { ...call, shell: inside });
    else reader.unresolved('cargo watch runs what is known only when it runs');
  }
  return runProgram(options.operands, call, inside);
};

const chokidar = commandLines({
  spec: { short: [...'cdtipI'], long: ['command=', 'debounce=', 'throttle=', 'ignore=', 'polling?'] },
  codes: ['c', 'command'],
  words: 'none',
});

const scripts = commandLines({ spec: { long: ['max-parallel=', 'npm-path='] }, words: 'scripts' });
const servers = commandLines({ spec: { long: ['expect='] }, words: 'lines' });

export const COMMAND_LINE_PROGRAMS: readonly (readonly [string, Program])[] = [
  ...['concurrently', 'conc'].map((name): readonly [string, Program] => [name, concurrently]),
  ['hyperfine', hyperfine],
  ['watchexec', watchexec],
  ...['chokidar', 'chokidar-cli'].map((name): readonly [string, Program] => [name, chokidar]),
  ['nodemon', nodemon],
  ['cargo-watch', cargoWatch],
  ['onchange', onchange],
  ...['run-s', 'run-p', 'npm-run-all', 'npm-run-all2'].map((name): readonly [string, Program] => [name, scripts]),
  ...['start-server-and-test', 'server-test', 'start-test', 'start-server'].map((name): readonly [string, Program] => [
    name,
    servers,
  ]),
];
