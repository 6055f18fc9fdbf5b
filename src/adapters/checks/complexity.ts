// How complex changed functions are: decisions counted in JavaScript and TypeScript, or what a command says.

import { extname, join } from 'node:path';
import { couldNotRun } from '../../domain/check-results.ts';
import { oneLine } from '../../domain/text.ts';
import type { ComplexityFacts, Finding, Unmeasured } from '../../domain/trust5-facts.ts';
import { readRegular } from '../own-file.ts';
import type { Commands } from './command.ts';
import type { ChangedFile } from './diff.ts';
import { inside } from './project.ts';

export type FunctionComplexity = {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** One, and one more for each decision. */
  readonly figure: number;
};

const READ_HERE = /\.[cm]?[jt]sx?$/;
/** Code that is read here or nowhere. */
const CODE = /\.(?:[cm]?[jt]sx?|vue|svelte|go|py|rs|java|kt|cs|rb|php|c|cc|cpp|h|hpp|swift|scala|ex|exs|sh)$/;
const MAX_BYTES = 4 * 1024 * 1024;

const FUNCTIONS = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ObjectMethod',
  'ClassMethod',
  'ClassPrivateMethod',
]);
const DECISIONS = new Set([
  'IfStatement',
  'ConditionalExpression',
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'WhileStatement',
  'DoWhileStatement',
  'CatchClause',
  'LogicalExpression',
]);

function isDecision(type: unknown, node: unknown): boolean {
  if (type === 'SwitchCase') return inside(node, 'test') !== null;
  return typeof type === 'string' && DECISIONS.has(type);
}

/** What a function is called: by itself, or by what it is put into. */
function nameOf(node: unknown, parent: unknown): string {
  const named = [
    inside(node, 'id', 'name'),
    inside(node, 'key', 'name'),
    inside(node, 'key', 'id', 'name'),
    inside(parent, 'id', 'name'),
    inside(parent, 'key', 'name'),
    inside(parent, 'left', 'name'),
    inside(parent, 'left', 'property', 'name'),
  ];
  return named.find((name): name is string => typeof name === 'string') ?? 'a function without a name';
}

/** The functions of a text, in its order; what stands in an inner one counts for that alone. Throws when it cannot be read. */
export async function complexityOf(text: string, path: string): Promise<readonly FunctionComplexity[]> {
  const { parseCode } = await import('./syntax.ts');
  const tree = parseCode(text, path);
  const found: { name: string; from: number; to: number; figure: number }[] = [];
  const visit = (node: unknown, parent: unknown, around: { figure: number } | null): void => {
    if (Array.isArray(node)) {
      for (const one of node) visit(one, parent, around);
      return;
    }
    if (typeof node !== 'object' || node === null) return;
    const type = inside(node, 'type');
    if (typeof type !== 'string') return;
    let current = around;
    if (FUNCTIONS.has(type)) {
      const [from, to] = [inside(node, 'loc', 'start', 'line'), inside(node, 'loc', 'end', 'line')];
      const own = { name: nameOf(node, parent), from: Number(from), to: Number(to), figure: 1 };
      found.push(own);
      current = own;
    } else if (current !== null && isDecision(type, node)) current.figure += 1;
    for (const [key, inner] of Object.entries(node))
      if (typeof inner === 'object' && inner !== null && key !== 'loc' && !key.endsWith('Comments'))
        visit(inner, node, current);
  };
  visit(tree, null, null);
  return found;
}

export type ComplexityOptions = {
  readonly root: string;
  /** `quality.commands.complexity`. */
  readonly command: string | null;
  readonly max: number;
  readonly files: readonly ChangedFile[];
  /** A file as it was before the change; null when it was not there. */
  readonly before: (path: string) => Promise<string | null>;
  readonly commands: Commands;
};

async function byCommand(command: string, commands: Commands): Promise<ComplexityFacts> {
  const end = await commands.run(command, command);
  const facts = { source: command, functions: null, most: null, old: 0, left: [] };
  if (end.exitCode === 0) return { ...facts, findings: [] };
  const how = end.timedOut
    ? 'did not end in time'
    : couldNotRun(end)
      ? 'cannot be run'
      : `ended with ${end.exitCode ?? 'a signal'}`;
  const lines = end.output.split('\n').filter((line) => line.trim() !== '');
  const words = `${command} ${how}: ${oneLine(lines[0] ?? 'it said nothing')}`;
  const findings = lines.flatMap((line): readonly Finding[] => {
    const [, path, number, about = ''] = /^(?:\.\/)?([^\s:]+\.\w+):(\d+)(?::\d+)?:?\s*(.*)$/.exec(line.trim()) ?? [];
    return path === undefined ? [] : [{ path, line: Number(number), words: oneLine(about) }];
  });
  return { ...facts, findings: findings.length > 0 ? findings : [{ path: null, line: null, words }] };
}

type Changed = FunctionComplexity & { readonly path: string };

/** Those that are more complex than they were before. */
async function grown(functions: readonly Changed[], before: ComplexityOptions['before']): Promise<readonly Changed[]> {
  const found: Changed[] = [];
  const earlier = new Map<string, readonly FunctionComplexity[]>();
  for (const one of functions) {
    const { path, name, figure } = one;
    const known = earlier.get(path) ?? (await complexityOf((await before(path)) ?? '', path).catch(() => []));
    earlier.set(path, known);
    if (!known.some((other) => other.name === name && other.figure >= figure)) found.push(one);
  }
  return found;
}

/** Of the changed files, the functions with a line that was added. */
export async function measureComplexity(options: ComplexityOptions): Promise<ComplexityFacts | Unmeasured> {
  const { root, command, max, files, before, commands } = options;
  if (command !== null) return byCommand(command, commands);
  const code = files.filter(({ path, added }) => CODE.test(path) && added.length > 0);
  const foreign = code.filter(({ path }) => !READ_HERE.test(path));
  const [first] = foreign;
  if (first !== undefined && foreign.length === code.length)
    return {
      unmeasured: `nothing here measures ${extname(first.path)} files, like ${first.path}; quality.commands.complexity may`,
    };
  const left = foreign.map(({ path }) => path);
  // What is wrong with the program itself is not taken for code that cannot be read.
  await import('./syntax.ts');
  const changed: Changed[] = [];
  for (const { path, added } of code) {
    if (!READ_HERE.test(path)) continue;
    const text = readRegular(join(root, path), MAX_BYTES);
    try {
      const all = await complexityOf(text ?? '', path);
      const touched = all.filter(({ from, to }) => added.some(({ line }) => line >= from && line <= to));
      changed.push(...touched.map((one) => ({ ...one, path })));
    } catch {
      left.push(path);
    }
  }
  const over = changed.filter(({ figure }) => figure > max);
  const worse = await grown(over, before);
  return {
    source: 'decisions in changed functions',
    functions: changed.length,
    most: changed.length === 0 ? null : Math.max(...changed.map(({ figure }) => figure)),
    findings: worse.map(({ path, from, name, figure }) => ({
      path,
      line: from,
      words: `${name} has a complexity of ${figure}, at most ${max}`,
    })),
    old: over.length - worse.length,
    left,
  };
}
