import assert from 'node:assert/strict';
import test from 'node:test';
import { NO_USAGE } from '../../../src/agents/rules/usage.ts';
import {
  continuation,
  cutBody,
  gaveUpComment,
  pullRequestBody,
  pullRequestTitle,
  savedComment,
} from '../../../src/daemon/publish/tracker-texts.ts';
import type { Entry } from '../../../src/daemon/rules/state.ts';
import { MemoryJournal } from '../../support/world.ts';

const STATES = { active: ['tool-todo', 'urgent'], done: 'tool-done', failed: 'tool-failed' };

const NONE = { directories: [], heads: [], refs: [] };

function entryOf(change: Partial<Entry> = {}): Entry {
  const journal = new MemoryJournal(() => 0);
  void journal.append({
    type: 'claimed',
    issue: 7,
    title: 'The issue',
    url: 'https://host/7',
    life: 1,
    branch: 'tool/issue-7',
    state_labels: ['tool-todo'],
    label_event: null,
  });
  const entry = journal.state.entries.get(7);
  assert.ok(entry !== undefined);
  return { ...entry, ...change };
}

test('the title of a pull request: the agent’s, the first commit’s, the issue’s, its number', () => {
  const cases: readonly [string | undefined, readonly string[], string, string][] = [
    ['Asked for', ['Subject\n\nBody'], 'The issue', 'Asked for'],
    [undefined, ['Subject\n\nBody', 'Second'], 'The issue', 'Subject'],
    ['  ', ['Subject'], 'The issue', 'Subject'],
    [undefined, [''], 'The issue', 'The issue'],
    [undefined, [], 'The issue', 'The issue'],
    [undefined, [], ' \n ', 'Issue #7'],
    ['two\nlines \u001b[31m', [], '', 'two lines \\x1b[31m'],
    ['x'.repeat(300), [], '', `${'x'.repeat(199)}…`],
  ];
  for (const [asked, messages, title, expected] of cases)
    assert.equal(pullRequestTitle(asked, messages, entryOf({ title })), expected);
});

test('its body closes the issue, in the agent’s words or in ours, and never twice', () => {
  const body = (asked: string | undefined, ...messages: string[]) => pullRequestBody(asked, messages, entryOf(), null);
  for (const words of ['Closes #7', 'This fixes #7, at last.', 'RESOLVED #7', 'closed  #7'])
    assert.equal(body(words), words);
  for (const words of ['closes #77', 'see #7', 'prefixes #7', 'Fixes #6'])
    assert.equal(body(words), `${words}\n\nCloses #7`);
  assert.equal(body(undefined, 'One\n', 'Two\n\nwith more'), 'One\n\n---\n\nTwo\n\nwith more\n\nCloses #7');
  assert.equal(body(' \n', 'One'), 'One\n\nCloses #7');
  assert.equal(body(undefined), 'Closes #7');
  assert.equal(body('hidden \u202e text\r\nmore'), 'hidden \\u{202e} text\nmore\n\nCloses #7');
});

test('a body is whole up to the limit of the service; one that is longer is cut, and says so', () => {
  const limit = 65_000;
  const closing = '\n\nCloses #7';
  const template = '\n\n## Checklist\n- [ ] tested';
  const body = (words: string, text: string | null) => pullRequestBody(words, [], entryOf(), text);
  for (const [text, last] of [
    [null, ''],
    [template, template],
  ] as const) {
    const whole = 'x'.repeat(limit - closing.length - last.length);
    assert.equal(body(whole, text), whole + closing + last);
    const cut = body(`${whole}x`, text);
    assert.match(cut, /^Closes #7\n\nx+…\n\nThe rest is cut off: the service takes no more\./);
    assert.ok(cut.endsWith(`no more.${last}`));
    assert.ok(cut.length <= limit && cut.length > limit - 10, `${cut.length}`);
  }
  const closed = body(`${'x'.repeat(limit)}\n\nCloses #7`, null);
  assert.match(closed, /^Closes #7\n\nx+…\n\nThe rest [^\n]+$/, 'what was cut off is said again');
  assert.equal(cutBody('x'.repeat(limit)), 'x'.repeat(limit));
  assert.match(cutBody('x'.repeat(limit + 1)), /^x{64900,}…\n\nThe rest is cut off/);
  const huge = body('y', `# z\n${'z'.repeat(2 * limit)}`);
  assert.match(huge, /^Closes #7\n\ny\n\n# z\nz+…\n\nThe rest is cut off[^\n]+$/);
  assert.ok(huge.length <= limit);
});

test('the repository’s template follows, unless the body was made from it', () => {
  const template = '\n## Checklist\n\n- [ ] tested\n';
  const body = (asked: string, text: string | null) => pullRequestBody(asked, [], entryOf(), text);
  assert.equal(body('Closes #7', template), 'Closes #7\n\n## Checklist\n\n- [ ] tested');
  assert.equal(body('Closes #7\n## Checklist\n- [x] tested', template), 'Closes #7\n## Checklist\n- [x] tested');
  assert.equal(body('Closes #7', ' \n'), 'Closes #7');
});

test('why an issue was given up: how often, on which branch, for how much, in words that cannot break out', () => {
  const once = gaveUpComment(entryOf({ attempt: 1, lastError: 'no\n```\n@everyone \u0007' }), STATES, NONE);
  assert.match(once, /^This issue could not be finished: one attempt on branch `tool\/issue-7`\.$/m);
  assert.match(once, /\n````text\nno\n```\n@everyone \\x07\n````\n/);
  assert.match(once, /put the label `tool-todo` back on/);
  const spent = { ...NO_USAGE, cost_usd: 1 };
  const costly = gaveUpComment(entryOf({ attempt: 3, spent, running: { ...spent, cost_usd: 0.239 } }), STATES, NONE);
  assert.match(costly, /3 attempts on branch `tool\/issue-7`, \$1\.24\.$/m);
  assert.match(costly, /nobody knows why/);
  const long = gaveUpComment(entryOf({ attempt: 1, lastError: 'x'.repeat(100_000) }), STATES, NONE);
  assert.ok(long.length < 8_000);
});

test('where unfinished work lies stands in the comment of an issue that was given up', () => {
  const ref = 'refs/toolcrew/saved/issue-7-1-2';
  const kept = { directories: ['/w/issue-7'], heads: ['branch tool/issue-7', 'branch `x`'], refs: [ref] };
  const text = gaveUpComment(entryOf({ attempt: 2 }), STATES, kept);
  const rows = [
    'directory /w/issue-7',
    'branch tool/issue-7 (in the workspace)',
    'branch `x` (in the workspace)',
    `ref ${ref}`,
  ];
  assert.ok(text.includes(`\n\`\`\`text\n${rows.join('\n')}\n\`\`\`\n`), text);
  assert.match(text, /state\.dir/);
  assert.ok(!gaveUpComment(entryOf({ attempt: 2 }), STATES, NONE).includes('kept on the machine'));
  const many = { ...NONE, refs: Array.from({ length: 500 }, (_, at) => `${ref}-${at}`) };
  const long = gaveUpComment(entryOf({ attempt: 2 }), STATES, many);
  assert.match(long, /and 440 more\n/);
  assert.ok(long.length < 65_000);
});

test('of saved work as many places are named as a comment holds, and where the others are listed', () => {
  const lines = Array.from(
    { length: 300 },
    (_, at) => `files of ${'deep/'.repeat(60)}${at} saved as refs/toolcrew/saved/x`,
  );
  const text = savedComment(lines);
  assert.ok(text.length < 65_000, `${text.length}`);
  assert.equal(text.split('\n').filter((line) => line.startsWith('- files')).length, 60);
  assert.match(text, /^- and 240 more: .*for-each-ref refs\/toolcrew\/saved/m);
  assert.doesNotMatch(savedComment(lines.slice(0, 60)), /more/);
});

test('what an agent is told when it handed nothing in', () => {
  const text = continuation('tool/issue-7');
  assert.match(text, /on the branch tool\/issue-7 yet/);
  for (const command of ['tool pr create', 'tool issue comment', 'tool issue done']) assert.ok(text.includes(command));
});
