// Programs that write the files that some of their options name.

import { type OptionsSpec, readOptions } from '../options.ts';
import type { Program } from '../reader.ts';
import { isText } from '../values.ts';
import { checkOptions } from './files.ts';
import { outputProgram } from './unknown.ts';

/** One of them; `runs` are options through which it runs another program. */
export function outputOptions(
  names: readonly string[],
  spec: OptionsSpec,
  runs: readonly string[] = [],
  tree = false,
): Program {
  return (call) => {
    const options = readOptions(call.args, spec);
    checkOptions(call, options);
    for (const file of options.all(...names)) {
      if (file !== '-' && file !== '') call.reader.write(call.shell, file, `${call.name} -o`, { tree });
    }
    const unnamed = DEFAULTS[call.name];
    if (unnamed !== undefined && !options.has(...names, 'version', 'help') && options.last('emit') !== 'none')
      call.reader.write(call.shell, unnamed, call.name, { tree: unnamed.endsWith('/') });
    if (options.has(...runs)) call.reader.unresolved(`${call.name} runs another program`);
    return undefined;
  };
}

const OUTPUTS: readonly (readonly [readonly string[], readonly string[], OptionsSpec])[] = [
  [
    ['gpg', 'gpg2', 'iconv', 'dot', 'shuf', 'flex', 'bison'],
    ['o', 'output'],
    { short: ['o', 'f', 't', 'r', 'u', 'n', 'i', 'T'], long: ['output='] },
  ],
  [
    ['openssl'],
    ['out', 'keyout', 'writerand', 'outdir', 'sess_out', 'keylogfile'],
    {
      singleDash: true,
      long: [
        'out=',
        'keyout=',
        'writerand=',
        'outdir=',
        'sess_out=',
        'keylogfile=',
        'in=',
        'key=',
        'pass=',
        'subj=',
        'days=',
      ],
    },
  ],
  [
    ['pg_dump', 'pg_dumpall', 'pg_restore'],
    ['f', 'file'],
    {
      short: [...'fFjnNsStTUhpdEeZlLIP'],
      long: [
        'file=',
        'format=',
        'jobs=',
        'schema=',
        'table=',
        'host=',
        'port=',
        'username=',
        'dbname=',
        'exclude-table=',
      ],
    },
  ],
  [
    ['mysqldump', 'mariadb-dump'],
    ['r', 'result-file', 'T', 'tab', 'log-error'],
    { short: [...'rThPSuw', 'p?'], long: ['result-file=', 'tab=', 'log-error=', 'host=', 'port=', 'user=', 'where='] },
  ],
  [['pg_basebackup'], ['D', 'pgdata'], { short: [...'DFrRTXhpUdlZ'], long: ['pgdata='] }],
  [
    ['esbuild'],
    ['outfile', 'outdir', 'metafile', 'mangle-cache'],
    { long: ['outfile=', 'outdir=', 'metafile=', 'mangle-cache='] },
  ],
  [
    ['pandoc'],
    ['o', 'output', 'extract-media', 'log'],
    { short: [...'oftrVMcHABTFL'], long: ['output=', 'extract-media=', 'log=', 'from=', 'to=', 'read=', 'write='] },
  ],
  [
    ['ctags', 'etags', 'universal-ctags'],
    ['f', 'o', 'output-file'],
    { short: [...'foLhI'], long: ['output-file=', 'languages=', 'exclude='] },
  ],
  // its `-d` is no directory
  [
    ['browserify', 'watchify'],
    ['o', 'outfile'],
    { short: [...'oretpugsxi'], long: ['outfile=', 'require=', 'entry=', 'transform=', 'plugin=', 'standalone='] },
  ],
  [
    ['svgr'],
    ['d', 'out-dir'],
    { short: ['d'], long: ['out-dir=', 'config-file=', 'ext=', 'template=', 'index-template=', 'filename-case='] },
  ],
  [['tic'], ['o'], { short: ['o', 'e', 'R', 'Q', 'v', 'w'] }],
  [
    ['vite', 'rollup', 'webpack', 'parcel', 'swc', 'babel', 'tsup', 'terser', 'uglifyjs', 'postcss', 'lessc'],
    ['o', 'd', 'outDir', 'out-dir', 'out-file', 'output', 'output-path', 'file', 'dir', 'dist-dir', 'out'],
    {
      // `-c` may stand alone
      mayLackText: true,
      short: ['o', 'd', 'c', 'f', 'i'],
      long: [
        'outDir=',
        'out-dir=',
        'out-file=',
        'output=',
        'output-path=',
        'file=',
        'dir=',
        'dist-dir=',
        'out=',
        'config=',
      ],
    },
  ],
  [
    ['typedoc'],
    ['out', 'json', 'html'],
    {
      isExact: true,
      long: 'out= json= html= options= tsconfig= plugin= theme= name= readme= exclude= emit='.split(' '),
    },
  ],
  [
    ['xsltproc', 'xmllint', 'qrencode', 'mmdc', 'jsdoc', 'cython', 'rst2html'],
    ['o', 'output', 'd', 'destination'],
    { short: ['o', 'd', 'i'], long: ['output=', 'destination='] },
  ],
];

/** What is written where no file is named. */
const DEFAULTS: Readonly<Record<string, string>> = {
  ctags: 'tags',
  'universal-ctags': 'tags',
  etags: 'TAGS',
  typedoc: 'docs/',
};

/** A key and, beside it, its public half. */
const sshKeygen: Program = (call) => {
  const options = readOptions(call.args, { short: [...'abCcDEFfGIJjKMmNnOPRrSsTtVWwYZz'] });
  checkOptions(call, options);
  const { reader, shell } = call;
  for (const file of options.all('f')) {
    if (options.has('l', 'y', 'e', 'F', 'B')) continue;
    reader.write(shell, file, 'ssh-keygen -f');
    for (const end of ['.pub', '.old']) if (isText(file)) reader.write(shell, file + end, 'ssh-keygen -f');
  }
  if (options.has('s')) reader.unresolved('ssh-keygen -s writes beside the keys that it signs');
  return undefined;
};

const coverageReports = outputOptions(
  ['d', 'directory', 'o', 'data-file'],
  {
    short: [...'dmpo'],
    long: ['directory=', 'data-file=', 'rcfile=', 'include=', 'omit=', 'fail-under=', 'source='],
  },
  [],
  true,
);
/** What it runs has options of its own. */
const coverage: Program = (call) => (call.args.includes('run') ? outputProgram(call) : coverageReports(call));

function outputPrograms(): readonly (readonly [string, Program])[] {
  return OUTPUTS.flatMap(([names, outputs, spec]) =>
    names.map((name): readonly [string, Program] => [name, outputOptions(outputs, spec, [], true)]),
  );
}

export const OUTPUT_OPTION_PROGRAMS: readonly (readonly [string, Program])[] = [
  ...outputPrograms(),
  ['ssh-keygen', sshKeygen],
  ['coverage', coverage],
];
