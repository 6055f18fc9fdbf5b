// What code of Node may name, call and hold while it surely only reads.

import { builtinModules } from 'node:module';

export type Space = {
  readonly reads: readonly string[];
  readonly calls: readonly string[];
  /** It is a function itself. */
  readonly isCalled?: true;
};

const words = (text: string): readonly string[] => text.split(' ');

const FS_CALLS = words('readFileSync existsSync readdirSync statSync lstatSync realpathSync readlinkSync accessSync');
const PATH_CALLS = words('join resolve dirname basename extname relative normalize parse isAbsolute format');
const OS_CALLS = words('homedir tmpdir platform cpus hostname type release arch totalmem freemem uptime loadavg');

const CRYPTO_CALLS = words(
  'randomBytes randomUUID randomInt createHash createHmac hash timingSafeEqual getHashes pbkdf2Sync scryptSync hkdfSync generateKeyPairSync',
);
const ASSERT_CALLS = words(
  'ok equal notEqual strictEqual notStrictEqual deepEqual deepStrictEqual notDeepStrictEqual match doesNotMatch throws rejects',
);

export const MODULES: Readonly<Record<string, Space>> = {
  fs: { reads: ['constants'], calls: FS_CALLS },
  path: { reads: ['sep', 'delimiter'], calls: PATH_CALLS },
  os: { reads: ['EOL'], calls: OS_CALLS },
  util: { reads: [], calls: ['inspect', 'format', 'isDeepStrictEqual'] },
  crypto: { reads: [], calls: CRYPTO_CALLS },
  assert: { reads: [], calls: ASSERT_CALLS, isCalled: true },
  'assert/strict': { reads: [], calls: ASSERT_CALLS, isCalled: true },
  http: { reads: ['STATUS_CODES'], calls: ['get', 'request'] },
  https: { reads: [], calls: ['get', 'request'] },
  net: { reads: [], calls: words('connect createConnection isIP isIPv4 isIPv6') },
};

/** Installed packages that only reckon with what they are given, read settings or answer: what they hold may be called as code of the project may. */
export const RECKONING: ReadonlySet<string> = new Set([
  ...words('semver jsonwebtoken jose bcrypt bcryptjs argon2 uuid nanoid ms dayjs date-fns luxon zod yaml qs picomatch'),
  ...words('dotenv express cors helmet koa axios react react-dom'),
]);

/** Names that stand for themselves; those of modules as well, for code on the command line. */
export const SPACES: Readonly<Record<string, Space>> = {
  ...MODULES,
  console: {
    reads: ['log', 'error'],
    calls: words(
      'log error warn info debug table dir time timeEnd timeLog count countReset group groupEnd trace assert',
    ),
  },
  require: { reads: [], calls: ['resolve'] },
  process: { reads: words('argv env version versions platform arch pid'), calls: words('cwd exit uptime memoryUsage') },
  JSON: { reads: ['parse', 'stringify'], calls: ['parse', 'stringify'] },
  Object: { reads: [], calls: words('keys values entries fromEntries') },
  Array: { reads: ['isArray'], calls: ['isArray', 'from', 'of'] },
  Math: { reads: ['PI', 'E'], calls: words('max min abs floor ceil round trunc sqrt pow log log2 log10 sign random') },
  Date: { reads: [], calls: ['now', 'parse'] },
  Buffer: { reads: [], calls: ['from', 'byteLength'] },
  Promise: { reads: [], calls: words('all allSettled any race resolve reject') },
};

export const FUNCTIONS: ReadonlySet<string> = new Set(
  words(
    'Number String Boolean parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent BigInt fetch ' +
      'setTimeout setInterval setImmediate clearTimeout clearInterval queueMicrotask structuredClone atob btoa',
  ),
);
export const CONSTANTS: ReadonlySet<string> = new Set(words('undefined NaN Infinity __dirname __filename'));
export const CLASSES: ReadonlySet<string> = new Set(
  words('Map Set Date RegExp Error TypeError RangeError URL URLSearchParams Array Promise'),
);
export const TAKEN: ReadonlySet<string> = new Set([
  ...Object.keys(SPACES).filter((name) => !Object.hasOwn(MODULES, name)),
  ...FUNCTIONS,
  ...CONSTANTS,
  ...CLASSES,
  ...words('require eval arguments global module exports'),
  // Any of these may stand outside of where it is made anew; on the command line modules are names too.
  ...Object.getOwnPropertyNames(globalThis),
  ...builtinModules.filter((name) => !Object.hasOwn(MODULES, name)),
]);

/** Members that lead from data to its kind, or to the code that calls. */
export const BLOCKED: ReadonlySet<string> = new Set(
  words(
    'constructor __proto__ prototype caller callee arguments __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__',
  ),
);

/** Functions of `fs` and `child_process` that change something, which code of the project may hand on. */
export const CHANGING: ReadonlySet<string> = new Set([
  ...[
    'writeFile',
    'appendFile',
    'rm',
    'rmdir',
    'unlink',
    'rename',
    'copyFile',
    'cp',
    'mkdir',
    'truncate',
    'symlink',
    'link',
  ].flatMap((name) => [name, `${name}Sync`]),
  ...words('createWriteStream execSync execFile execFileSync spawn spawnSync fork'),
]);

/** What texts, lists, maps, times and the like can do; none of it reaches beyond them. */
export const METHODS: ReadonlySet<string> = new Set([
  ...words(
    'slice split join map filter forEach reduce reduceRight find findIndex findLast some every includes indexOf',
  ),
  ...words(
    'lastIndexOf concat flat flatMap push pop shift unshift reverse sort fill at keys values entries splice toSorted',
  ),
  ...words(
    'trim trimStart trimEnd replace replaceAll match matchAll startsWith endsWith padStart padEnd repeat charAt',
  ),
  ...words('charCodeAt codePointAt substring substr toUpperCase toLowerCase localeCompare normalize search test exec'),
  ...words(
    'toString toFixed toPrecision toJSON toISOString toLocaleString getTime getFullYear getMonth getDate valueOf',
  ),
  ...words('get set has add delete hasOwnProperty isFile isDirectory isSymbolicLink then catch finally text json'),
  ...words('update digest on once write end destroy resume setEncoding unref'),
]);

/** Methods of a list that only ask whether what a function answers is true. */
export const ASKING: ReadonlySet<string> = new Set(words('filter some every find findIndex findLast findLastIndex'));

/** Nodes whose parts are looked at, and nothing else. */
export const PLAIN: ReadonlySet<string> = new Set([
  ...words('Program ExpressionStatement BlockStatement EmptyStatement ForStatement WhileStatement SpreadElement'),
  ...words('DoWhileStatement ReturnStatement BreakStatement ContinueStatement ThrowStatement TryStatement CatchClause'),
  ...words('SwitchStatement SwitchCase VariableDeclaration SequenceExpression ArrayExpression TemplateElement'),
  ...words(
    'StringLiteral NumericLiteral BooleanLiteral NullLiteral RegExpLiteral BigIntLiteral Directive DirectiveLiteral',
  ),
  ...words('ArrayPattern RestElement AssignmentPattern ObjectPattern ObjectExpression AwaitExpression'),
]);
/** Their parts are only shown, compared or reckoned with. */
export const SHOWING: ReadonlySet<string> = new Set(words('TemplateLiteral BinaryExpression UnaryExpression'));
/** Their parts may become what they are themselves. */
export const PASSING: ReadonlySet<string> = new Set(words('LogicalExpression ParenthesizedExpression'));
export const FUNCTION_NODES: ReadonlySet<string> = new Set(
  words('ArrowFunctionExpression FunctionExpression FunctionDeclaration ObjectMethod'),
);
