// Whether code of Node surely only reads: every name, call and member in it is on a list, all else is not.
// A value that it can get hold of is data, or a function that does no harm; so no member may lead from data to
// `Function`, and a member whose name is known only when it runs may be shown, and nothing else. To call what code of the
// project exports is to run a program of the project, which is not read; all around it is held to the same lists.

import {
  ASKING,
  BLOCKED,
  CHANGING,
  CLASSES,
  CONSTANTS,
  FUNCTION_NODES,
  FUNCTIONS,
  METHODS,
  MODULES,
  PASSING,
  PLAIN,
  RECKONING,
  SHOWING,
  SPACES,
  type Space,
  TAKEN,
} from './node-words.ts';

type Node = { readonly type: string; readonly [field: string]: unknown };

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

/** The text of `require('…')` and of `import('…')`. */
function requiredBy(node: unknown): string | null {
  if (!isNode(node) || node.type !== 'CallExpression') return null;
  if (nameOf(node.callee) !== 'require' && nodeOf(node.callee).type !== 'Import') return null;
  const given = nodesOf(node.arguments);
  return given.length === 1 ? textOf(given[0]) : null;
}

/** The module that a name stands for; what `import(…)` gives is known only when it is waited for. */
function moduleOf(node: unknown): string | null {
  const isImported = isNode(node) && isNode(node.callee) && node.callee.type === 'Import';
  return isImported ? null : knownModule(requiredBy(node));
}

function knownModule(text: string | null): string | null {
  const name = text?.replace(/^node:/, '') ?? null;
  return name !== null && Object.hasOwn(MODULES, name) ? name : null;
}

/** Data of the project, or what a package says of itself. */
const JSON_FILE = /^(?:\.{0,2}\/[\w./@ -]*\.json|(?:@[\w.-]+\/)?[\w-][\w.-]*\/package\.json)$/;

/** Code of the project: it is run as a program of the project is, and nothing is asked of it. */
const OWN_FILE = /^(?!.*(?:^|\/)node_modules\/)\.{0,2}\/[\w./@-]+$/;

function isOwnFile(text: string | null): boolean {
  return text !== null && OWN_FILE.test(text) && !JSON_FILE.test(text);
}

/** What it exports may be called, whatever it is named. */
function isCallable(text: string | null): boolean {
  return isOwnFile(text) || (text !== null && RECKONING.has(text.split('/')[0] ?? ''));
}

type Names = {
  /** How often each is made. */
  readonly made: Map<string, number>;
  /** Those that stand for a module, and for a function of one. */
  readonly modules: Map<string, string>;
  readonly functions: Map<string, { readonly module: string; readonly own: string }>;
  /** Those that are made as a number and only counted up and down. */
  readonly counters: Set<string>;
  /** Code of the project, or a package that only reckons, is loaded: what is called may be its. */
  isOwn: boolean;
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
    else
      for (const one of nodesOf(nodeOf(node.id).properties)) {
        if (one.computed === true) throw new Refused();
        takeFunction(module, one.key, one.value, names);
      }
  }
  if (node.type === 'ImportDeclaration') collectImport(node, names);
  names.isOwn ||= isCallable(requiredBy(node));
  const counter = node.type === 'VariableDeclarator' ? nameOf(node.id) : null;
  if (counter !== null && isNode(node.init) && node.init.type === 'NumericLiteral') names.counters.add(counter);
  for (const part of partsOf(node)) collect(part, names);
}

function takeFunction(module: string, key: unknown, value: unknown, names: Names): void {
  const own = nameOf(key);
  const local = nameOf(value);
  if (own === null || local === null || MODULES[module]?.calls.includes(own) !== true) throw new Refused();
  names.functions.set(local, { module, own });
}

/** `import … from '…'` of a module that is known, or of code of the project. */
function collectImport(node: Node, names: Names): void {
  const source = textOf(node.source);
  const module = knownModule(source);
  names.isOwn ||= isCallable(source);
  if ((module === null && !isCallable(source)) || nodesOf(node.attributes).length > 0) throw new Refused();
  for (const one of nodesOf(node.specifiers)) {
    const local = nameOf(one.local) ?? '';
    names.made.set(local, (names.made.get(local) ?? 0) + 1);
    if (module === null) continue;
    if (one.type !== 'ImportSpecifier') names.modules.set(local, module);
    else takeFunction(module, one.imported, one.local, names);
  }
}

function check(program: Node): readonly string[] {
  const files: string[] = [];
  const names: Names = { made: new Map(), modules: new Map(), functions: new Map(), counters: new Set(), isOwn: false };
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
    if (name === 'require' || callee.type === 'Import') {
      const file = requiredBy(node);
      const isJson = name !== null && file !== null && JSON_FILE.test(file);
      if (file === null || !(isCallable(file) || isJson)) throw new Refused();
      if (isOwnFile(file) || isJson) files.push(file);
      return;
    }
    let isShown = false;
    let isAsked = false;
    if (name !== null) {
      const taken = names.functions.get(name);
      const isKnown = names.made.has(name) ? !names.modules.has(name) : FUNCTIONS.has(name);
      if (taken === undefined && CHANGING.has(name)) throw new Refused();
      if (taken?.module === 'fs') fsCall(taken.own, given);
      else if (!isKnown && spaceOf(callee)?.isCalled !== true) throw new Refused();
    } else if (isMember(callee)) {
      const space = spaceOf(callee.object);
      const method = callee.computed === true ? null : nameOf(callee.property);
      if (method === null) throw new Refused();
      if (space === null) {
        if (!isStream(callee)) {
          if (names.isOwn ? BLOCKED.has(method) || CHANGING.has(method) : !METHODS.has(method)) throw new Refused();
          visit(nodeOf(callee.object), false);
          isAsked = ASKING.has(method) && isList(callee.object);
        }
      } else {
        if (!space.calls.includes(method)) throw new Refused();
        if (space === MODULES.fs) fsCall(method, given);
        isShown = space === SPACES.console;
      }
    } else if (names.isOwn || FUNCTION_NODES.has(callee.type)) visit(callee, false);
    else throw new Refused();
    for (const one of given) {
      const isPlain = one.type === 'ArrowFunctionExpression' && one.async !== true;
      if (isAsked && isPlain && nodeOf(one.body).type !== 'BlockStatement') {
        for (const part of nodesOf(one.params)) visit(part, false);
        visit(nodeOf(one.body), true);
      } else visit(one, isShown);
    }
  };

  /** Whether it is surely a list of the language's own, whose methods are those that they seem to be. */
  const isList = (node: unknown): boolean => {
    if (!isNode(node) || node.type === 'ArrayExpression') return isNode(node);
    if (node.type !== 'CallExpression' || !isNode(node.callee) || !isMember(node.callee)) return false;
    const { object, property: method, computed } = node.callee;
    const space = spaceOf(object);
    if (computed === true) return false;
    if (space !== null) return space === SPACES.Object && nameOf(method) !== 'fromEntries';
    return /^(?:filter|map|sort|slice|reverse)$/.test(`${nameOf(method)}`) && isList(object);
  };

  const fsCall = (name: string, given: readonly Node[]): void => {
    if (given.some(({ type }) => type === 'SpreadElement')) throw new Refused();
    fsOptions(name, given);
  };

  /** The stream that `process.stdin` and the like stand for. */
  const streamOf = (node: unknown): string | null => {
    if (!isNode(node) || !isMember(node) || node.computed === true || names.made.has('process')) return null;
    return nameOf(node.object) === 'process' ? nameOf(node.property) : null;
  };

  /** `process.stdout.write` and the like. */
  const isStream = ({ object, property: method }: Node): boolean =>
    ['stdout', 'stderr'].includes(`${streamOf(object)}`) && nameOf(method) === 'write';

  /** What `process.stdin.on(…)`, or several of these behind each other, are given; null: it is something else. */
  const givenToInput = (node: unknown): readonly Node[] | null => {
    if (!isNode(node) || node.type !== 'CallExpression' || !isNode(node.callee) || !isMember(node.callee)) return null;
    const { object, property: method, computed } = node.callee;
    if (computed === true || !/^(?:on|setEncoding|resume)$/.test(`${nameOf(method)}`)) return null;
    const before = streamOf(object) === 'stdin' ? [] : givenToInput(object);
    return before === null ? null : [...before, ...nodesOf(node.arguments)];
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
    const ofInput = type === 'ExpressionStatement' ? givenToInput(node.expression) : null;
    if (ofInput !== null) for (const one of ofInput) visit(one, false);
    else if (type === 'IfStatement' || type === 'ConditionalExpression') {
      // what is only asked for is as good as shown
      for (const part of partsOf(node)) visit(part, part === node.test || (isShown && type !== 'IfStatement'));
    } else if (PLAIN.has(type)) each(false);
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
    } else if (type === 'ObjectProperty') {
      const key = node.computed === true ? null : (nameOf(node.key) ?? textOf(node.key) ?? '');
      if (key === null || BLOCKED.has(key)) throw new Refused();
      visit(nodeOf(node.value), false);
    } else if (type === 'ImportDeclaration') {
      if (isOwnFile(textOf(node.source))) files.push(`${textOf(node.source)}`);
    } else if (FUNCTION_NODES.has(type)) {
      const isPlain = node.generator !== true && node.computed !== true;
      if (!isPlain || node.kind === 'get' || node.kind === 'set') throw new Refused();
      for (const part of [...nodesOf(node.params), ...nodesOf(node.body)]) visit(part, false);
    } else if (type === 'ForOfStatement' || type === 'ForInStatement') {
      const left = nodeOf(node.left);
      const isNew =
        left.type === 'VariableDeclaration' && nodesOf(left.declarations).every(({ init }) => !isNode(init));
      const isInput = node.await === true && streamOf(node.right) === 'stdin';
      if ((node.await === true && !isInput) || !isNew) throw new Refused();
      for (const part of partsOf(node)) if (!isInput || part !== node.right) visit(part, false);
    } else if (isMember(node)) member(node, isShown);
    else if (type === 'CallExpression' || type === 'OptionalCallExpression') call(node);
    else if (type === 'NewExpression') {
      const name = nameOf(node.callee);
      if (name === null || names.made.has(name)) {
        if (!names.isOwn) throw new Refused();
        visit(nodeOf(node.callee), false);
      } else if (!CLASSES.has(name)) throw new Refused();
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
 * @returns the files that it loads: those of JSON, and code of the project; null where it may do more than read
 */
export function onlyReads(program: unknown): readonly string[] | null {
  try {
    return check(nodeOf(program));
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}
