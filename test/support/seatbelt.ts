// A small Seatbelt: reads profiles, and decides about writes by their rules.

import assert from 'node:assert/strict';

type Form = string | readonly Form[];
type Write = { readonly path: string; readonly type: string };
type Rule = {
  readonly action: string;
  readonly operations: readonly string[];
  readonly holds: (write: Write) => boolean;
};

/** All forms of a text; a string has a `"` before it. Comments are left out. */
function formsOf(text: string): readonly Form[] {
  const stack: Form[][] = [[]];
  for (const [token] of text.matchAll(/;[^\n]*|[()]|"(?:\\.|[^"\\])*"|[^\s()";]+/gs)) {
    if (token.startsWith(';')) continue;
    if (token === '(') stack.push([]);
    else if (token !== ')') stack.at(-1)?.push(token.startsWith('"') ? unquoted(token) : token);
    else {
      const form = stack.pop();
      assert.ok(form !== undefined && stack.length > 0, 'a parenthesis too many');
      stack.at(-1)?.push(form);
    }
  }
  assert.equal(stack.length, 1, 'a parenthesis is open');
  return stack[0] ?? [];
}

function unquoted(token: string): string {
  return `"${token.slice(1, -1).replace(/\\(.)/gs, '$1')}`;
}

function filterOf(form: Form): Rule['holds'] {
  assert.ok(typeof form !== 'string' && typeof form[0] === 'string', 'expected a filter');
  const [name, ...rest] = form;
  const [first = ''] = rest;
  if (name === 'require-all' || name === 'require-any') {
    const filters = rest.map(filterOf);
    return (write) => (name === 'require-all' ? filters.every((one) => one(write)) : filters.some((one) => one(write)));
  }
  assert.ok(typeof first === 'string' && rest.length === 1, `${name} takes one value`);
  if (name === 'vnode-type') return ({ type }) => type === first;
  assert.ok(first.startsWith('"'), `${name} takes a string`);
  const value = first.slice(1);
  if (name === 'literal') return ({ path }) => path === value;
  if (name === 'subpath') return ({ path }) => path === value || path.startsWith(`${value}/`);
  assert.equal(name, 'regex');
  const expression = new RegExp(value, 's');
  return ({ path }) => expression.test(path);
}

function ruleOf(form: Form): Rule {
  assert.ok(typeof form !== 'string');
  const [action = '', ...rest] = form;
  assert.ok(action === 'allow' || action === 'deny');
  const operations = rest.filter((one) => typeof one === 'string');
  const filters = rest.filter((one) => typeof one !== 'string').map(filterOf);
  return { action, operations, holds: (write) => filters.length === 0 || filters.some((one) => one(write)) };
}

/** Regular expressions of a profile. */
export function expressionsOf(profile: string): readonly string[] {
  const inside = (form: Form): readonly string[] =>
    typeof form === 'string'
      ? []
      : form[0] === 'regex' && typeof form[1] === 'string'
        ? [form[1].slice(1)]
        : form.flatMap(inside);
  return [...new Set(formsOf(profile).flatMap(inside))];
}

/** Whether writes of a kind may happen: `file-write-data`, `file-write-create` or `file-write-unlink`. */
export function playSeatbelt(profile: string): (operation: string, path: string, type?: string) => boolean {
  const [version, ...forms] = formsOf(profile);
  assert.deepEqual(version, ['version', '1']);
  const rules = forms.map(ruleOf).toReversed();
  const rulesFor = (...names: readonly string[]) =>
    rules.filter(({ operations }) => operations.some((one) => names.includes(one)));
  const general = rulesFor('file-write*', 'default');
  const finer = (operation: string) => [rulesFor(operation), rulesFor(operation, 'file-write*', 'default')] as const;
  const byOperation = new Map<string, ReturnType<typeof finer>>();
  return (operation, path, type = 'REGULAR-FILE') => {
    const [own, all] = byOperation.get(operation) ?? finer(operation);
    byOperation.set(operation, [own, all]);
    const write = { path, type };
    const last = (list: readonly Rule[]) => list.find(({ holds }) => holds(write))?.action;
    const answer = last(all);
    // Some tell that the last rule counts, others that rules of the finer operation are asked before the others.
    assert.equal(own.length === 0 ? answer : (last(own) ?? last(general)), answer, `${operation} ${path}`);
    return answer === 'allow';
  };
}
