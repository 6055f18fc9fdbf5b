// Formatters and linters: the files they change when a flag says so.

import { isOn, type Options, type OptionsSpec, readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';

/** A tool that changes the files it is given when a flag says so; without files, everything below. */
function changer(
  spec: OptionsSpec,
  isChanging: (options: Options, operands: readonly Field[]) => boolean,
  skip = 0,
): Program {
  return (call) => {
    const options = readOptions(call.args, spec);
    const operands = options.operands;
    if (!isChanging(options, operands) && !options.isUncertain) return undefined;
    if (options.isUncertain) call.reader.unresolved(`${call.name} is given a word that is known only when it runs`);
    const files = operands.slice(skip);
    for (const file of files.length === 0 ? ['.'] : files) writeBelow(call, file);
    return undefined;
  };
}

/** A file, or a directory as a whole; patterns of the tool's own begin in the directory before their first sign. */
export function writeBelow(call: Call, file: Field): void {
  const { reader, shell, name } = call;
  if (!isText(file)) {
    reader.write(shell, file, name, { tree: true });
    return;
  }
  const sign = file.search(/[*?[{!(]/);
  if (sign >= 0) {
    const directory = file.slice(0, file.lastIndexOf('/', sign) + 1);
    reader.write(shell, directory === '' ? '.' : directory, name, { tree: true, entry: true });
    return;
  }
  reader.write(shell, file, name, { tree: reader.kindAt(shell, file) !== 'file' });
}

const prettier = changer(
  {
    long: [
      'write',
      'check',
      'config=',
      'ignore-path=',
      'parser=',
      'plugin=',
      'log-level=',
      'tab-width=',
      'print-width=',
      'trailing-comma=',
      'cache',
      'cache-location=',
      'cache-strategy=',
      'stdin-filepath=',
    ],
  },
  (options) => options.has('write', 'w'),
);

const ESLINT: OptionsSpec = {
  short: ['c', 'o', 'f'],
  long: [
    'init',
    'fix',
    'fix-dry-run',
    'fix-type=',
    'config=',
    'ext=',
    'rule=',
    'format=',
    'output-file=',
    'ignore-path=',
    'ignore-pattern=',
    'max-warnings=',
    'parser=',
    'parser-options=',
    'plugin=',
    'resolve-plugins-relative-to=',
    'rulesdir=',
    'rules',
    'cache',
    'cache-location=',
    'cache-strategy=',
    'env=',
    'global=',
  ],
};

const eslint: Program = (call) => {
  const options = readOptions(call.args, ESLINT);
  for (const file of options.all('o', 'output-file')) call.reader.write(call.shell, file, `${call.name} -o`);
  // it asks, and then writes its settings and what they need
  if (options.has('init')) call.reader.write(call.shell, '.', `${call.name} --init`, { tree: true, entry: true });
  return changer(ESLINT, (given) => given.has('fix'))(call);
};

const biome = changer(
  {
    long: [
      'write',
      'fix',
      'apply',
      'apply-unsafe',
      'unsafe',
      'config-path=',
      'max-diagnostics=',
      'only=',
      'skip=',
      'reporter=',
      'stdin-file-path=',
      'log-level=',
    ],
  },
  (options, [verb]) => options.has('write', 'fix', 'apply', 'apply-unsafe') || verb === 'migrate' || verb === 'init',
  1,
);

const gofmt = changer(
  {
    short: ['r', 'local', 'srcdir'],
    long: ['w', 'l', 'd', 's', 'e', 'r=', 'local=', 'srcdir=', 'cpuprofile='],
    singleDash: true,
  },
  (options) => options.has('w'),
);

const black = changer(
  {
    short: ['l', 't', 'C', 'c', 'W'],
    long: [
      'check',
      'diff',
      'line-length=',
      'target-version=',
      'include=',
      'exclude=',
      'extend-exclude=',
      'config=',
      'workers=',
      'code=',
      'profile=',
      'settings-path=',
      'in-place',
      'in-place-ext=',
    ],
  },
  (options) => !options.has('check', 'diff', 'version', 'check-only', 'code', 'c'),
);

const RUFF: OptionsSpec = {
  short: ['o'],
  long: [
    'fix',
    'fix-only',
    'diff',
    'check',
    'add-noqa',
    'select=',
    'ignore=',
    'extend-select=',
    'config=',
    'line-length=',
    'output-file=',
    'output-format=',
    'target-version=',
    'exclude=',
    'cache-dir=',
  ],
};

const ruff: Program = (call) => {
  const options = readOptions(call.args, RUFF);
  for (const file of options.all('o', 'output-file')) call.reader.write(call.shell, file, 'ruff -o');
  return changer(
    RUFF,
    (given, [verb]) => given.has('fix', 'fix-only', 'add-noqa') || (verb === 'format' && !given.has('check', 'diff')),
    1,
  )(call);
};

function isDart(options: Options, [verb]: readonly Field[]): boolean {
  return verb === 'format' ? !options.has('o', 'output') : verb === 'fix' && options.has('apply');
}

function asksRector(options: Options): boolean {
  return options.has('dry-run', 'n', 'version', 'V', 'help', 'h');
}

/** Its hooks are given the files that are named; else those of a commit, or all, which may be any. */
const preCommit: Program = (call) => {
  const { args } = call;
  if (readOptions(args, { short: ['c'], long: ['config=', 'color='] }).operands[0] !== 'run') return undefined;
  const at = args.indexOf('--files');
  const behind = args.slice(at + 1);
  const end = behind.findIndex((word) => isText(word) && word.startsWith('-'));
  const files = at === -1 ? [] : behind.slice(0, end === -1 ? undefined : end);
  for (const file of files.length === 0 ? ['.'] : files) writeBelow(call, file);
  return undefined;
};

export const FORMATTER_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['prettier', prettier],
  ['prettierd', prettier],
  ['eslint', eslint],
  ['stylelint', eslint],
  ['tslint', eslint],
  ['oxlint', eslint],
  ['standard', eslint],
  ['xo', eslint],
  ['biome', biome],
  ['gofmt', gofmt],
  ['goimports', gofmt],
  ['gofumpt', gofmt],
  ['black', black],
  ['isort', black],
  ['rustfmt', black],
  ['autopep8', changer({ short: ['j', 'p'], long: ['in-place'] }, (options) => options.has('i', 'in-place'))],
  ['yapf', changer({ long: ['in-place', 'style='] }, (options) => options.has('i', 'in-place'))],
  [
    'rubocop',
    changer(
      { short: ['c'], long: ['auto-correct', 'autocorrect', 'autocorrect-all', 'auto-correct-all', 'config='] },
      (options) => options.has('a', 'A', 'auto-correct', 'autocorrect', 'autocorrect-all', 'auto-correct-all'),
    ),
  ],
  ['ruff', ruff],
  ...'autoflake docformatter google-java-format ormolu fourmolu swift-format'
    .split(' ')
    .map((name): readonly [string, Program] => [
      name,
      changer({}, (options) => options.has('i', 'in-place', 'replace')),
    ]),
  [
    'taplo',
    changer(
      { short: ['c', 'o'], long: ['config=', 'option='] },
      (options, [verb]) => (verb === 'fmt' || verb === 'format') && !options.has('check', 'diff'),
      1,
    ),
  ],
  [
    'stylua',
    changer(
      { short: ['f', 'g'], long: ['config-path=', 'glob=', 'stdin-filepath=', 'num-threads=', 'output-format='] },
      (options, operands) => !options.has('check', 'c', 'version', 'help') && !operands.includes('-'),
    ),
  ],
  ['ktlint', changer({ short: ['R'], long: ['format', 'editorconfig='] }, (options) => options.has('F', 'format'))],
  [
    'rector',
    changer(
      { short: ['c'], long: ['config='] },
      (options, [verb]) => (verb === undefined || verb === 'process' || verb === 'p') && !asksRector(options),
      1,
    ),
  ],
  ['dprint', changer({}, (_, [verb]) => verb === 'fmt', 1)],
  ['zig', changer({}, (options, [verb]) => verb === 'fmt' && !options.has('check'), 1)],
  ['dart', changer({ short: ['o', 'l'], long: ['output='] }, isDart, 1)],
  ['mix', changer({}, (options, [verb]) => verb === 'format' && !options.has('check-formatted'), 1)],
  [
    'golines',
    changer({ short: ['m', 't'], long: ['max-len=', 'tab-len=', 'base-formatter='] }, (options) =>
      options.has('w', 'write-output'),
    ),
  ],
  ['shfmt', changer({ short: ['i'] }, (options) => options.has('w', 'write'))],
  ['php-cs-fixer', changer({}, (options, [verb]) => verb === 'fix' && !isOn(options, 'dry-run'), 1)],
  ['sqlfluff', changer({ long: ['dialect='] }, (_, [verb]) => verb === 'fix' || verb === 'format', 1)],
  ['pre-commit', preCommit],
  ['sd', changer({ short: ['n', 'f'] }, (options, operands) => operands.length > 2 && !options.has('p', 'preview'), 2)],
  [
    'scalafmt',
    changer(
      { short: ['c', 'f'] },
      (options) => !options.has('list', 'l', 'check', 'test', 'stdout', 'stdin', 'version', 'help'),
    ),
  ],
  ...['pyupgrade', 'phpcbf', 'pint', 'swiftformat', 'sqlfmt'].map((name): readonly [string, Program] => [
    name,
    changer({}, (options) => !options.has('check', 'test', 'lint', 'diff', 'version', 'help')),
  ]),
  ...['jscodeshift', 'sort-package-json', 'doctoc'].map((name): readonly [string, Program] => [
    name,
    changer(
      { short: ['t'], long: ['transform=', 'parser=', 'extensions='] },
      (options) => !options.has('check', 'd', 'dry'),
    ),
  ]),
  ...['terraform', 'tofu'].map((name): readonly [string, Program] => [
    name,
    changer({ singleDash: true }, (options, [verb]) => verb === 'fmt' && !isOn(options, 'check'), 1),
  ]),
];
