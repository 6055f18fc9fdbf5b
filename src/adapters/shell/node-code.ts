// Whether code of Node surely only reads: every name, call and member in it is on a list, all else is not.
// A value that it can get hold of is data, or a function that does no harm; so no member may lead from data to
// `Function`, and a member whose name is known only when it runs may be shown, and nothing else.

import { builtinModules } from 'node:module';

type Node = { readonly type: string; readonly [field: string]: unknown };

type Space = { readonly reads: readonly string[]; readonly calls: readonly string[] };

const words = (text: string): readonly string[] => text.split(' ');

const FS_CALLS = words('readFileSync existsSync readdirSync statSync lstatSync realpathSync readlinkSync accessSync');
const PATH_CALLS = words('join resolve dirname basename extname relative normalize parse isAbsolute format');
const OS_CALLS = words('homedir tmpdir platform cpus hostname type release arch totalmem freemem uptime loadavg');

const MODULES: Readonly<Record<string, Space>> = {
  fs: { reads: ['constants'], calls: FS_CALLS },
  path: { reads: ['sep', 'delimiter'], calls: PATH_CALLS },
  os: { reads: ['EOL'], calls: OS_CALLS },
  util: { reads: [], calls: ['inspect', 'format', 'isDeepStrictEqual'] },
};

/** Names that stand for themselves; those of modules as well, for code on the command line. */
const SPACES: Readonly<Record<string, Space>> = {
  ...MODULES,
  console: { reads: ['log', 'error'], calls: words('log error warn info debug table dir') },
  process: { reads: words('argv env version versions platform arch pid'), calls: words('cwd exit uptime memoryUsage') },
  JSON: { reads: ['parse', 'stringify'], calls: ['parse', 'stringify'] },
  Object: { reads: [], calls: words('keys values entries fromEntries') },
  Array: { reads: ['isArray'], calls: ['isArray', 'from', 'of'] },
  Math: { reads: ['PI', 'E'], calls: words('max min abs floor ceil round trunc sqrt pow log log2 log10 sign random') },
  Date: { reads: [], calls: ['now', 'parse'] },
  Buffer: { reads: [], calls: ['from', 'byteLength'] },
};

const FUNCTIONS: ReadonlySet<string> = new Set(
  words('Number String Boolean parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent BigInt'),
);
const CONSTANTS: ReadonlySet<string> = new Set(words('undefined NaN Infinity __dirname __filename'));
const CLASSES: ReadonlySet<string> = new Set(
  words('Map Set Date RegExp Error TypeError RangeError URL URLSearchParams Array'),
);
const TAKEN: ReadonlySet<string> = new Set([
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
const BLOCKED: ReadonlySet<string> = new Set(
  words(
    'constructor __proto__ prototype caller callee arguments __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__',
  ),
);

/** What texts, lists, maps, times and the like can do; none of it reaches beyond them. */
const METHODS: ReadonlySet<string> = new Set([
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
  ...words('get set has add delete hasOwnProperty isFile isDirectory isSymbolicLink'),
]);

/** Nodes whose parts are looked at, and nothing else. */
const PLAIN: ReadonlySet<string> = new Set([
  ...words(
    'Program ExpressionStatement BlockStatement EmptyStatement IfStatement ForStatement WhileStatement SpreadElement',
  ),
  ...words('DoWhileStatement ReturnStatement BreakStatement ContinueStatement ThrowStatement TryStatement CatchClause'),
  ...words('SwitchStatement SwitchCase VariableDeclaration SequenceExpression ArrayExpression TemplateElement'),
  ...words(
    'StringLiteral NumericLiteral BooleanLiteral NullLiteral RegExpLiteral BigIntLiteral Directive DirectiveLiteral',
  ),
  ...words('ArrayPattern RestElement AssignmentPattern ObjectPattern ObjectExpression'),
]);
/** Their parts are only shown, compared or reckoned with. */
const SHOWING: ReadonlySet<string> = new Set(words('TemplateLiteral BinaryExpression UnaryExpression'));
/** Their parts may become what they are themselves. */
const PASSING: ReadonlySet<string> = new Set(words('LogicalExpression ConditionalExpression ParenthesizedExpression'));
const FUNCTION_NODES: ReadonlySet<string> = new Set(
  words('ArrowFunctionExpression FunctionExpression FunctionDeclaration ObjectMethod'),
);

class Refused extends Error {}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function nodeOf(value: unknown): Node {
  if (!isNode(value)) throw new Refused();
  return value;
}

function nodesOf(value: unknown): readonly Node[] {
  return (Array.isArray(value) ? value : [value]).filter(isNode);
}

function partsOf(node: Node): readonly Node[] {
  return Object.entries(node).flatMap(([field, value]) =>
    /^(?:leading|trailing|inner)Comments$/.test(field) ? [] : nodesOf(value),
  );
}

function textOf(node: unknown): string | null {
  return isNode(node) && node.type === 'StringLiteral' && typeof node.value === 'string' ? node.value : null;
}

function nameOf(node: unknown): string | null {
  return isNode(node) && node.type === 'Identifier' && typeof node.name === 'string' ? node.name : null;
}

function isMember(node: Node): boolean {
  return node.type === 'MemberExpression' || node.type === 'OptionalMemberExpression';
}

/** The text of `require('…')`. */
function requiredBy(node: unknown): string | null {
  if (!isNode(node) || node.type !== 'CallExpression' || nameOf(node.callee) !== 'require') return null;
  const given = nodesOf(node.arguments);
  return given.length === 1 ? textOf(given[0]) : null;
}

function moduleOf(node: unknown): string | null {
  const name = requiredBy(node)?.replace(/^node:/, '') ?? null;
  return name !== null && Object.hasOwn(MODULES, name) ? name : null;
}

/** Data of the project, or what a package says of itself. */
const JSON_FILE = /^(?:\.{0,2}\/[\w./@ -]*\.json|(?:@[\w.-]+\/)?[\w-][\w.-]*\/package\.json)$/;

type Names = {
  /** How often each is made. */
  readonly made: Map<string, number>;
  /** Those that stand for a module, and for a function of `fs`. */
  readonly modules: Map<string, string>;
  readonly functions: Map<string, string>;
  /** Those that are made as a number and only counted up and down. */
  readonly counters: Set<string>;
};

/** The names that a pattern makes. */
function madeBy(pattern: unknown): readonly string[] {
  const name = nameOf(pattern);
  if (name !== null) return [name];
  if (!isNode(pattern)) return [];
  if (pattern.type === 'ObjectPattern')
    return nodesOf(pattern.properties).flatMap((one) =>
      madeBy(one.type === 'ObjectProperty' ? one.value : one.argument),
    );
  if (pattern.type === 'ArrayPattern') return nodesOf(pattern.elements).flatMap(madeBy);
  return pattern.type === 'AssignmentPattern' ? madeBy(pattern.left) : madeBy(pattern.argument);
}

function collect(node: Node, names: Names): void {
  const patterns = [
    ...(node.type === 'VariableDeclarator' || node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression'
      ? [node.id]
      : []),
    ...(FUNCTION_NODES.has(node.type) ? nodesOf(node.params) : []),
    ...(node.type === 'CatchClause' ? [node.param] : []),
  ];
  for (const name of patterns.flatMap(madeBy)) names.made.set(name, (names.made.get(name) ?? 0) + 1);
  const module = node.type === 'VariableDeclarator' ? moduleOf(node.init) : null;
  if (module !== null) {
    const name = nameOf(node.id);
    if (name !== null) names.modules.set(name, module);
    else if (module === 'fs')
      for (const one of nodesOf(nodeOf(node.id).properties)) {
        const own = nameOf(one.key);
        const local = nameOf(one.value);
        if (own === null || local === null || one.computed === true || !FS_CALLS.includes(own)) throw new Refused();
        names.functions.set(local, own);
      }
  }
  const counter = node.type === 'VariableDeclarator' ? nameOf(node.id) : null;
  if (counter !== null && isNode(node.init) && node.init.type === 'NumericLiteral') names.counters.add(counter);
  for (const part of partsOf(node)) collect(part, names);
}

function check(program: Node): readonly string[] {
  const files: string[] = [];
  const names: Names = { made: new Map(), modules: new Map(), functions: new Map(), counters: new Set() };
  collect(program, names);
  for (const [name, count] of names.made) {
    const isOnly = count === 1;
    const isModule = names.modules.has(name) || names.functions.has(name);
    if (TAKEN.has(name) || (Object.hasOwn(MODULES, name) && !isModule) || (isModule && !isOnly)) throw new Refused();
    if (!isOnly) names.counters.delete(name);
  }

  const spaceOf = (node: unknown): Space | null => {
    const name = nameOf(node);
    const module = moduleOf(node) ?? (name === null ? null : (names.modules.get(name) ?? null));
    if (module !== null) return MODULES[module] ?? null;
    return name !== null && !names.made.has(name) && Object.hasOwn(SPACES, name) ? (SPACES[name] ?? null) : null;
  };

  const isNumber = (node: Node): boolean => {
    const name = nameOf(node);
    if (name !== null) return names.counters.has(name);
    if (node.type === 'NumericLiteral') return true;
    return node.type === 'BinaryExpression' && ['-', '*', '/', '%'].includes(`${node.operator}`);
  };

  const property = (node: Node, isShown: boolean): void => {
    const key = nodeOf(node.property);
    const known = node.computed === true ? textOf(key) : nameOf(key);
    if (known !== null ? BLOCKED.has(known) : node.computed !== true || !(isShown || isNumber(key)))
      throw new Refused();
    if (node.computed === true) visit(key, true);
  };

  const member = (node: Node, isShown: boolean): void => {
    const space = spaceOf(node.object);
    if (space === null) visit(nodeOf(node.object), false);
    else if (node.computed === true || !space.reads.includes(`${nameOf(node.property)}`)) throw new Refused();
    property(node, isShown);
  };

  /** What a function of `fs` is given besides a path may open a file for writing. */
  const fsOptions = (name: string, given: readonly Node[]): void => {
    const [, options, ...more] = given;
    if (name !== 'readFileSync' || options === undefined) return;
    const isEncoding =
      textOf(options) !== null ||
      (options.type === 'ObjectExpression' &&
        nodesOf(options.properties).every(
          (one) => one.computed !== true && nameOf(one.key) === 'encoding' && textOf(one.value) !== null,
        ));
    if (!isEncoding || more.length > 0) throw new Refused();
  };

  const call = (node: Node): void => {
    const callee = nodeOf(node.callee);
    const given = nodesOf(node.arguments);
    const name = nameOf(callee);
    if (name === 'require') {
      const file = requiredBy(node) ?? '';
      if (!JSON_FILE.test(file)) throw new Refused();
      files.push(file);
      return;
    }
    let isShown = false;
    if (name !== null) {
      const own = names.functions.get(name);
      if (own !== undefined) fsCall(own, given);
      else if (!names.made.has(name) ? !FUNCTIONS.has(name) : names.modules.has(name)) throw new Refused();
    } else if (isMember(callee)) {
      const space = spaceOf(callee.object);
      const method = callee.computed === true ? null : nameOf(callee.property);
      if (method === null) throw new Refused();
      if (space === null) {
        if (!isStream(callee)) {
          if (!METHODS.has(method)) throw new Refused();
          visit(nodeOf(callee.object), false);
        }
      } else {
        if (!space.calls.includes(method)) throw new Refused();
        if (space === MODULES.fs) fsCall(method, given);
        isShown = space === SPACES.console;
      }
    } else if (FUNCTION_NODES.has(callee.type)) visit(callee, false);
    else throw new Refused();
    for (const one of given) visit(one, isShown);
  };

  const fsCall = (name: string, given: readonly Node[]): void => {
    if (given.some(({ type }) => type === 'SpreadElement')) throw new Refused();
    fsOptions(name, given);
  };

  /** `process.stdout.write` and the like. */
  const isStream = ({ object, property: method }: Node): boolean => {
    if (!isNode(object) || !isMember(object) || object.computed === true || names.made.has('process')) return false;
    return (
      nameOf(object.object) === 'process' &&
      ['stdout', 'stderr'].includes(`${nameOf(object.property)}`) &&
      nameOf(method) === 'write'
    );
  };

  /** Something is put there: a name of its own, or a member of data. */
  const target = (node: Node, isKept: boolean): void => {
    const name = nameOf(node);
    if (name !== null) {
      if (!names.made.has(name) || names.modules.has(name) || names.functions.has(name)) throw new Refused();
    } else if (isMember(node)) {
      if (spaceOf(node.object) !== null) throw new Refused();
      member(node, isKept);
    } else throw new Refused();
  };

  const visit = (node: Node, isShown: boolean): void => {
    const { type } = node;
    const each = (shown: boolean) => {
      for (const part of partsOf(node)) visit(part, shown);
    };
    if (PLAIN.has(type)) each(false);
    else if (SHOWING.has(type)) {
      if (node.operator === 'delete') throw new Refused();
      each(true);
    } else if (PASSING.has(type)) each(isShown);
    else if (type === 'Identifier') {
      const name = `${node.name}`;
      const isOwn = names.made.has(name) && !names.modules.has(name) && !names.functions.has(name);
      if (!isOwn && (names.made.has(name) || !(CONSTANTS.has(name) || FUNCTIONS.has(name)))) throw new Refused();
    } else if (type === 'VariableDeclarator') {
      if (moduleOf(node.init) === null) each(false);
      else if (nameOf(node.id) === null && moduleOf(node.init) !== 'fs') throw new Refused();
    } else if (type === 'ObjectProperty') {
      const key = node.computed === true ? null : (nameOf(node.key) ?? textOf(node.key) ?? '');
      if (key === null || BLOCKED.has(key)) throw new Refused();
      visit(nodeOf(node.value), false);
    } else if (FUNCTION_NODES.has(type)) {
      const isPlain = node.async !== true && node.generator !== true && node.computed !== true;
      if (!isPlain || node.kind === 'get' || node.kind === 'set') throw new Refused();
      for (const part of [...nodesOf(node.params), ...nodesOf(node.body)]) visit(part, false);
    } else if (type === 'ForOfStatement' || type === 'ForInStatement') {
      const left = nodeOf(node.left);
      const isNew =
        left.type === 'VariableDeclaration' && nodesOf(left.declarations).every(({ init }) => !isNode(init));
      if (node.await === true || !isNew) throw new Refused();
      each(false);
    } else if (isMember(node)) member(node, isShown);
    else if (type === 'CallExpression' || type === 'OptionalCallExpression') call(node);
    else if (type === 'NewExpression') {
      const name = nameOf(node.callee);
      if (name === null || names.made.has(name) || !CLASSES.has(name)) throw new Refused();
      for (const one of nodesOf(node.arguments)) visit(one, false);
    } else if (type === 'AssignmentExpression') {
      // `a[b] ||= c` is what was there
      target(nodeOf(node.left), !['||=', '&&=', '??='].includes(`${node.operator}`));
      visit(nodeOf(node.right), false);
    } else if (type === 'UpdateExpression') {
      target(nodeOf(node.argument), true);
    } else throw new Refused();
  };
  // what is put into a name later counts from the beginning
  for (const name of assigned(program)) names.counters.delete(name);
  visit(program, false);
  return files;
}

function assigned(node: Node): readonly string[] {
  const own = node.type === 'AssignmentExpression' ? madeBy(node.left) : [];
  return [...own, ...partsOf(node).flatMap(assigned)];
}

/**
 * @param program a syntax tree, as `parseScript` gives it
 * @returns the files of JSON that it loads as such; null where it may do more than read
 */
export function onlyReads(program: unknown): readonly string[] | null {
  try {
    return check(nodeOf(program));
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}
