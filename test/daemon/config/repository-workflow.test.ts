// The parser of a repository's own WORKFLOW.md.

import assert from 'node:assert/strict';
import test from 'node:test';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { parseOwnFile } from '../../../src/daemon/config/repository-workflow.ts';
import { OWN_LABELS } from '../../../src/daemon/rules/own-file.ts';
import type { Workflow } from '../../../src/daemon/rules/workflow.ts';
import { workflowWith } from '../../support/world.ts';

type Allowed = Partial<Workflow['fromRepository']>;

const ALL: Allowed = { settings: ['prompt', 'labels'], hooks: true };
const operator = (allowed: Allowed, change: Parameters<typeof workflowWith>[0] = {}): Workflow => ({
  ...workflowWith(change),
  fromRepository: { settings: [], hooks: false, ...allowed },
});
const parse = (yaml: string, allowed: Allowed = ALL, prompt = '') =>
  parseOwnFile(`---\n${yaml}\n---\n${prompt}`, 'c0ffee', operator(allowed));

/** Keys of the problems that the error names. */
function problemsOf(yaml: string, prompt = ''): readonly unknown[] {
  try {
    parse(yaml, ALL, prompt);
  } catch (error) {
    assert.ok(error instanceof ToolError);
    const { problems } = error.refusal.values;
    return Array.isArray(problems) ? problems.map((one) => one.values.key) : [error.code];
  }
  return [];
}

test('a file sets prompt, labels and hooks, whatever way it writes them', () => {
  const yaml = `active_states: [ready, now]
tracker: { done_label: shipped, failed_label: broken, question_label: asked }
agent: { priority_labels: urgent }
hooks: { after_create: npm ci, before_run: "true" }`;
  const { workflow, refused } = parse(yaml, ALL, 'Read {{ issue.title }}.');
  assert.deepEqual(refused, []);
  assert.deepEqual(workflow.labels, { active: ['ready', 'now'], done: 'shipped', failed: 'broken' });
  assert.equal(workflow.tracker.questionLabel, 'asked');
  assert.deepEqual(workflow.agent.priorityLabels, ['urgent']);
  assert.equal(workflow.prompt.trim(), 'Read {{ issue.title }}.');
  assert.deepEqual(workflow.own, {
    commit: 'c0ffee',
    sets: ['prompt', ...OWN_LABELS, 'hooks.after_create', 'hooks.before_run'],
    hooks: { after_create: 'npm ci', before_run: 'true' },
  });
  assert.deepEqual(operator(ALL).hooks, workflow.hooks, 'the hooks of the operator stay');
});

test('what a file may not set is named and changes nothing', () => {
  const yaml = `tracker: { trust: anyone, repo: evil/evil, token: $SECRET, done_label: shipped, repository_workflow: [labels] }
hooks: { before_run: echo, timeout_ms: 1, from_repository: true }
tool: { command: sh }
prompt: in the front matter
server:
constructor: { active_states: x }`;
  const mine = operator({ settings: ['prompt'] });
  const { workflow, refused } = parse(yaml, { settings: ['prompt'] }, 'Mine.');
  assert.deepEqual(refused, [
    'tracker.trust',
    'tracker.repo',
    'tracker.token',
    'tracker.done_label',
    'tracker.repository_workflow',
    'hooks.before_run',
    'hooks.timeout_ms',
    'hooks.from_repository',
    'tool.command',
    'prompt',
    'constructor.active_states',
  ]);
  assert.deepEqual({ ...workflow, prompt: '', own: undefined }, { ...mine, prompt: '', own: undefined });
  assert.deepEqual(workflow.own?.hooks, {});
  const none = parse('', { hooks: true }, 'Mine.');
  assert.equal(none.workflow.prompt, mine.prompt);
  assert.deepEqual(none.refused, ['prompt']);
  const one = parse('tracker: { done_label: a, failed_label: b }', { settings: ['done_label'] });
  assert.deepEqual(one.refused, ['tracker.failed_label']);
  assert.equal(one.workflow.labels.done, 'a');
});

test('a variable is no more than its letters', () => {
  const { workflow } = parse('tracker: { done_label: $HOME }', ALL, `Say $HOME and $\{HOME}.`);
  assert.equal(workflow.labels.done, '$HOME');
  assert.match(workflow.prompt, /Say \$HOME and \$\{HOME\}\./);
});

test('labels that the service refuses, or that do not hold together, refuse the file', () => {
  assert.deepEqual(problemsOf(`tracker: { done_label: "${'x'.repeat(51)}" }`), ['done_label']);
  assert.deepEqual(problemsOf('tracker: { done_label: "a\\u202eb", failed_label: " " }'), [
    'done_label',
    'failed_label',
  ]);
  assert.deepEqual(problemsOf('active_states: [TOOL-DONE]'), ['tracker.done_label']);
  assert.deepEqual(problemsOf('active_states: ["a,b"]'), ['active_states']);
  assert.deepEqual(problemsOf(`active_states: [${'abcdefghijk'.split('').join(', ')}]`), ['active_states']);
  assert.deepEqual(problemsOf('agent: { priority_labels: [tool-todo, p, P] }'), [
    'agent.priority_labels',
    'agent.priority_labels',
  ]);
  assert.deepEqual(problemsOf('active_states: a\ntracker: { active_states: b }'), ['active_states']);
  assert.deepEqual(problemsOf('active_states: []\nhooks: { before_run: [1] }'), ['active_states', 'hooks.before_run']);
});

test('labels that cost too many requests a poll refuse the file that sets them', () => {
  const list = (count: number, of: string) =>
    `[${Array.from({ length: count }, (_, one) => `${of}${one}`).join(', ')}]`;
  const yaml = (active: number, urgent: number) =>
    `active_states: ${list(active, 'a')}\nagent: { priority_labels: ${list(urgent, 'p')} }`;
  assert.deepEqual(problemsOf(yaml(4, 4)), []);
  assert.deepEqual(problemsOf(yaml(3, 6)), ['agent.priority_labels']);
  const priorityLabels = Array.from({ length: 30 }, (_, one) => `p${one}`);
  const mine = operator(ALL, { agent: { priorityLabels } });
  assert.equal(parseOwnFile('Only words.', 'c', mine).workflow.prompt, 'Only words.');
});

test('a template with an error, and a front matter that is no mapping, refuse the file', () => {
  assert.deepEqual(problemsOf('', '{{ env.TOKEN }}'), ['prompt']);
  assert.deepEqual(problemsOf('- a'), ['front matter']);
  assert.deepEqual(problemsOf('a: [b'), ['yaml_invalid']);
  assert.throws(() => parseOwnFile('---js\nx\n---\n', 'c', operator(ALL)));
});

test('hidden characters of a prompt become visible', () => {
  const text = 'a\u202eb\u001b[2Jc\n';
  assert.equal(parse('', ALL, text).workflow.prompt, 'a\\u{202e}b\\x1b[2Jc\n');
});

test('a file without front matter is a prompt', () => {
  const { workflow, refused } = parseOwnFile('Only words.\n', 'c', operator(ALL));
  assert.equal(workflow.prompt, 'Only words.\n');
  assert.deepEqual(refused, []);
  assert.deepEqual(parseOwnFile('', 'c', operator(ALL)).workflow.own, { commit: 'c', sets: [], hooks: {} });
});
