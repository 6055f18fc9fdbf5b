// Programs that read texts and write files when an option says so, editors, and programs that fetch files.

import { type OptionsSpec, readOptions } from '../options.ts';
import { baseOf } from '../paths.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { checkOptions } from './files.ts';

/** A program that writes the files that some of its options name. */
function outputOptions(names: readonly string[], spec: OptionsSpec, runs: readonly string[] = []): Program {
  return (call) => {
    const options = readOptions(call.args, spec);
    checkOptions(call, options);
    for (const file of options.all(...names)) {
      if (file !== '-' && file !== '') call.reader.write(call.shell, file, `${call.name} -o`);
    }
    if (options.has(...runs)) call.reader.unresolved(`${call.name} runs another program`);
    return undefined;
  };
}

const sort = outputOptions(
  ['o', 'output'],
  {
    short: ['k', 'o', 'S', 't', 'T'],
    long: [
      'key=',
      'output=',
      'buffer-size=',
      'field-separator=',
      'temporary-directory=',
      'parallel=',
      'batch-size=',
      'sort=',
      'random-source=',
      'compress-program=',
      'files0-from=',
      'check?',
    ],
  },
  ['compress-program'],
);

/** Pieces get the name that is given, with an ending: anything beside it may be one. */
const split: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['a', 'b', 'C', 'l', 'n', 't', 'f'],
    long: [
      'suffix-length=',
      'bytes=',
      'line-bytes=',
      'lines=',
      'number=',
      'separator=',
      'filter=',
      'additional-suffix=',
      'numeric-suffixes?',
      'hex-suffixes?',
      'prefix=',
      'suffix-format=',
      'digits=',
    ],
  });
  checkOptions(call, options);
  const { reader, shell } = call;
  for (const filter of options.all('filter')) {
    if (isText(filter)) reader.runChild(filter, shell);
    else reader.unresolved('split --filter runs what is known only when it runs');
  }
  const prefix = call.name === 'csplit' ? (options.last('f', 'prefix') ?? 'xx') : (options.operands[1] ?? 'x');
  if (!isText(prefix)) reader.write(shell, prefix, call.name, { tree: true });
  else
    reader.write(shell, prefix.includes('/') ? prefix.slice(0, prefix.lastIndexOf('/') + 1) : '.', call.name, {
      tree: true,
    });
  return undefined;
};

/** Editors take commands that write other files and run programs. */
const editor: Program = (call) => {
  if (call.args.length === 1 && call.args[0] === '--version') return undefined;
  const options = readOptions(call.args, {
    short: ['c', 's', 'S', 'u', 'i', 'w', 'W', 'p', 'T', 'x', 't', 'U'],
    long: ['cmd=', 'command='],
  });
  for (const operand of options.operands) {
    if (!isText(operand) || !operand.startsWith('+')) call.reader.write(call.shell, operand, call.name);
  }
  call.reader.unresolved(`${call.name}: what its commands write is not known before they run`);
  return undefined;
};

const CURL_TEXTS = [...'AbCcdDeEFhHKmoPQrtTuUwxXyYz'];
const CURL_LONGS = [
  'output=',
  'output-dir=',
  'remote-name',
  'remote-name-all',
  'remote-header-name',
  'create-dirs',
  'dump-header=',
  'cookie-jar=',
  'trace=',
  'trace-ascii=',
  'config=',
  'etag-save=',
  'hsts=',
  'alt-svc=',
  'libcurl=',
  'stderr=',
  'data=',
  'data-binary=',
  'data-raw=',
  'data-urlencode=',
  'header=',
  'request=',
  'url=',
  'user=',
  'user-agent=',
  'form=',
  'cookie=',
  'proxy=',
  'retry=',
  'retry-delay=',
  'max-time=',
  'connect-timeout=',
  'cacert=',
  'cert=',
  'key=',
  'write-out=',
  'range=',
  'referer=',
  'upload-file=',
  'resolve=',
  'interface=',
  'limit-rate=',
  'location',
  'fail',
  'silent',
  'show-error',
  'insecure',
  'include',
  'head',
  'verbose',
  'compressed',
  'json=',
];

const curl: Program = (call) => {
  const options = readOptions(call.args, { short: CURL_TEXTS, long: CURL_LONGS });
  checkOptions(call, options);
  const { reader, shell } = call;
  if (options.has('K', 'config')) reader.unresolved('curl reads more options from a file');
  const directory = options.last('output-dir');
  const inDirectory = (file: Field): Field =>
    directory === undefined
      ? file
      : isText(directory) && isText(file)
        ? `${directory}/${file}`
        : { lead: '', many: false, number: false, within: null };
  for (const file of options.all('o', 'output')) {
    if (file === '-') continue;
    reader.write(shell, inDirectory(file), 'curl -o');
    // `#1` stands for what matched in the address
    if (isText(file) && file.includes('#'))
      reader.unresolved('curl -o writes to names that are worked out when it runs');
  }
  for (const file of options.all(
    'D',
    'dump-header',
    'c',
    'cookie-jar',
    'trace',
    'trace-ascii',
    'etag-save',
    'hsts',
    'alt-svc',
    'libcurl',
    'stderr',
  )) {
    if (file !== '-') reader.write(shell, file, 'curl');
  }
  for (const format of options.all('w', 'write-out')) {
    if (!isText(format) || format.includes('%output') || format.startsWith('@'))
      reader.unresolved('curl -w may write a file');
  }
  if (!options.has('O', 'remote-name', 'remote-name-all')) return undefined;
  if (options.has('J', 'remote-header-name')) reader.unresolved('curl -J takes the name from the answer');
  for (const url of [...options.operands, ...options.all('url')]) {
    const name = isText(url) && !/[[{]/.test(url) ? baseOf(url.split(/[?#]/)[0] ?? '') : '';
    if (name === '') reader.unresolved('curl -O writes to a name that is not known before it runs');
    else reader.write(shell, inDirectory(name), 'curl -O');
  }
  return undefined;
};

const WGET_LONGS = [
  'output-document=',
  'directory-prefix=',
  'output-file=',
  'append-output=',
  'input-file=',
  'execute=',
  'config=',
  'content-disposition',
  'recursive',
  'mirror',
  'page-requisites',
  'save-cookies=',
  'load-cookies=',
  'header=',
  'user-agent=',
  'post-data=',
  'post-file=',
  'timeout=',
  'tries=',
  'wait=',
  'level=',
  'accept=',
  'reject=',
  'domains=',
  'warc-file=',
  'rejected-log=',
  'use-askpass=',
  'quiet',
  'no-verbose',
  'spider',
  'version',
  'help',
];

const wget: Program = (call) => {
  const options = readOptions(call.args, { short: [...'aoePBOtTwUiAIDlQRX'], long: WGET_LONGS });
  checkOptions(call, options);
  const { reader, shell } = call;
  if (options.has('e', 'execute', 'config', 'use-askpass', 'warc-file', 'i', 'input-file', 'content-disposition')) {
    reader.unresolved('wget is given options that may write other files');
  }
  for (const file of options.all('o', 'output-file', 'a', 'append-output', 'save-cookies', 'rejected-log'))
    reader.write(shell, file, 'wget -o');
  if (options.has('spider', 'version', 'help')) return undefined;
  const documents = options.all('O', 'output-document');
  for (const file of documents) if (file !== '-') reader.write(shell, file, 'wget -O');
  if (documents.length > 0) return undefined;
  const directory = options.last('P', 'directory-prefix') ?? '.';
  reader.write(shell, directory, 'wget', { tree: true });
  return undefined;
};

const mktemp: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['p', 't?'],
    long: ['tmpdir?', 'suffix=', 'directory', 'dry-run', 'quiet'],
  });
  checkOptions(call, options);
  const { reader, shell } = call;
  const [template] = options.operands;
  const directory = options.last('p', 'tmpdir');
  if (options.has('u', 'dry-run')) return undefined;
  if (directory !== undefined && directory !== '') reader.write(shell, directory, 'mktemp', { tree: true });
  else if (template !== undefined && !options.has('t', 'tmpdir')) {
    if (!isText(template)) reader.write(shell, template, 'mktemp');
    else
      reader.write(shell, template.includes('/') ? template.slice(0, template.lastIndexOf('/') + 1) : '.', 'mktemp', {
        tree: true,
      });
  }
  return undefined;
};

/** `--in-place` of programs that otherwise print. */
const inPlace: Program = (call) => {
  const options = readOptions(call.args, { long: ['in-place', 'inplace', 'write', 'modify'] });
  checkOptions(call, options);
  if (!options.has('i', 'm', 'in-place', 'inplace', 'write', 'modify')) return undefined;
  for (const operand of options.operands) call.reader.write(call.shell, operand, `${call.name} -i`);
  return undefined;
};

const OUTPUTS: readonly (readonly [readonly string[], readonly string[], OptionsSpec])[] = [
  [
    ['gcc', 'g++', 'cc', 'c++', 'clang', 'clang++', 'ld', 'as', 'rustc', 'nasm', 'javac'],
    ['o', 'd'],
    { short: ['o', 'I', 'L', 'l', 'D', 'x', 'd'] },
  ],
  [
    ['gpg', 'gpg2', 'iconv', 'pandoc', 'dot', 'objcopy', 'protoc', 'shuf', 'yasm', 'flex', 'bison'],
    ['o', 'output'],
    { short: ['o', 'f', 't', 'r', 'u', 'n', 'i', 'T'], long: ['output='] },
  ],
  [
    ['openssl'],
    ['out', 'keyout', 'writerand'],
    { singleDash: true, long: ['out=', 'keyout=', 'writerand=', 'in=', 'key=', 'pass=', 'subj=', 'days='] },
  ],
  [['ssh-keygen'], ['f'], { short: ['f', 't', 'b', 'N', 'C', 'P', 'm'] }],
  [['esbuild'], ['outfile', 'outdir'], { long: ['outfile=', 'outdir='] }],
];

/** Reports a file beside it as well, as `ssh-keygen` writes one. */
export function outputPrograms(): readonly (readonly [string, Program])[] {
  return OUTPUTS.flatMap(([names, outputs, spec]) =>
    names.map((name): readonly [string, Program] => [name, outputOptions(outputs, spec)]),
  );
}

const script: Program = (call: Call) => {
  const options = readOptions(call.args, {
    short: ['c', 'T', 'B', 'I', 'O', 'E', 'o', 'm'],
    long: ['command=', 'log-in=', 'log-out=', 'log-io=', 'log-timing=', 'timing?'],
  });
  for (const text of options.all('c', 'command')) {
    if (isText(text)) call.reader.runChild(text, call.shell);
    else call.reader.unresolved('script runs what is known only when it runs');
  }
  for (const file of [
    ...options.operands,
    ...options.all('T', 'B', 'I', 'O', 'log-in', 'log-out', 'log-io', 'log-timing', 'timing'),
  ]) {
    if (file !== '') call.reader.write(call.shell, file, 'script');
  }
  if (options.operands.length === 0) call.reader.write(call.shell, 'typescript', 'script');
  return undefined;
};

export const TEXT_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['sort', sort],
  ['split', split],
  ['csplit', split],
  ['curl', curl],
  ['wget', wget],
  ['mktemp', mktemp],
  ['yq', inPlace],
  ['tidy', inPlace],
  ['xmlstarlet', inPlace],
  ['clang-format', inPlace],
  ['shfmt', inPlace],
  ['script', script],
  ...[
    'ed',
    'red',
    'ex',
    'vi',
    'vim',
    'nvim',
    'view',
    'gvim',
    'nano',
    'pico',
    'joe',
    'mcedit',
    'emacsclient',
    'micro',
    'code',
  ].map((name): readonly [string, Program] => [name, editor]),
  ...outputPrograms(),
];
