import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { createTemplate, type PromptValues, templateProblems } from '../../../src/daemon/config/template.ts';
import { NO_BLOCKERS } from '../../../src/daemon/rules/blockers.ts';

function values(body: string, title = 'A title'): PromptValues {
  return {
    issue: {
      number: 7,
      title,
      body,
      url: 'https://host/7',
      state: 'open',
      labels: ['a', 'b'],
      author: { login: 'someone', type: 'User' },
      createdAt: 'c',
      updatedAt: 'u',
      blockers: NO_BLOCKERS,
    },
    attempt: { number: 2, last_error: 'it broke' },
    repo: { owner: 'o', repo: 'r', slug: 'o/r' },
    workspace: { path: '/w', branch: 'tool/issue-7' },
  };
}

test('every variable that the documentation names', () => {
  const source =
    '{{ issue.number }}|{{ issue.title }}|{{ issue.body }}|{{ issue.url }}|{{ issue.labels | join: "," }}|{{ issue.author }}|{{ issue.created_at }}|{{ issue.updated_at }}|{{ attempt.number }}|{{ attempt.last_error }}|{{ repo.owner }}|{{ repo.repo }}|{{ repo.slug }}|{{ workspace.path }}|{{ workspace.branch }}';
  assert.equal(
    createTemplate(source).render(values('body')),
    '7|A title|body|https://host/7|a,b|someone|c|u|2|it broke|o|r|o/r|/w|tool/issue-7',
  );
});

test('text of an issue is data: whatever it looks like, it comes out as it is', () => {
  const texts = [
    '{{ issue.title }}',
    '{% if true %}x{% endif %}',
    '$& $1 $`',
    '/clear',
    '@/etc/passwd',
    '`rm -rf /`',
    '{{ x | y }}',
    '<script>',
    '\\{{',
    '{% raw %}',
  ];
  const template = createTemplate('before {{ issue.body }} after {{ issue.title }}');
  for (const text of texts) assert.equal(template.render(values(text, text)), `before ${text} after ${text}`);
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('{', '}', '%', '$', '&', '@', '/', '`', 'a', '\n', '|', ' ') }),
      (text) => {
        assert.equal(createTemplate('<{{ issue.body }}>').render(values(text)), `<${text}>`);
      },
    ),
  );
});

test('the filters fence and inline', () => {
  assert.equal(createTemplate('{{ issue.body | fence }}').render(values('a ``` b')), '````text\na ``` b\n````');
  assert.equal(createTemplate('{{ issue.title | inline }}').render(values('', 'a\n/b\u0007')), 'a /b\\x07');
});

test('nothing can be read from disk, and no template runs for ever', () => {
  for (const source of ['{% include "/etc/passwd" %}', '{% render "/etc/passwd" %}', '{% layout "/etc/passwd" %}']) {
    assert.throws(() => createTemplate(source).render(values('')), source);
  }
  assert.throws(() => createTemplate('{% for i in (1..100000000) %}{{ i }}{% endfor %}').render(values('')), /limit/);
});

test('properties of JavaScript’s objects are no variables', () => {
  assert.throws(() => createTemplate('{{ issue.constructor }}').render(values('')), /undefined variable/);
  assert.throws(() => createTemplate('{{ issue.__proto__ }}').render(values('')), /undefined variable/);
});

test('what is good has no problems: names of the template’s own, loops, defaults, what lies below a variable', () => {
  const good = [
    '{% for label in issue.labels %}{{ label }}{{ forloop.index }}{% endfor %}',
    '{% assign words = issue.title | split: " " %}{{ words.size }}{{ issue.labels[0] }}{{ issue["url"] }}',
    '{% capture x %}a{% endcapture %}{{ x | upcase }}{% if attempt.last_error == nil %}b{% endif %}',
    '{% raw %}{{ nothing }}{% endraw %}{% comment %}{{ nothing }}{% endcomment %}',
    '{% case repo.slug %}{% when "o/r" %}c{% else %}{{ workspace.branch }}{% endcase %}',
  ];
  for (const source of good) assert.deepEqual(templateProblems(source), [], source);
});

test('the names that are checked are the names that are there', () => {
  const names = ['issue', 'attempt', 'repo', 'workspace'].map(
    (root) => templateProblems(`{{ ${root}.zzzzzzzzzzzz }}`)[0],
  );
  const known = names.flatMap((problem) => problem?.known ?? []);
  assert.equal(known.length, 15);
  for (const name of known) assert.doesNotThrow(() => createTemplate(`{{ ${name} }}`).render(values('body')), name);
});

test('of many problems the first ones are found, and the template is parsed only so often', () => {
  const filters = Array.from({ length: 200 }, (_, one) => `{{1|q${one}}}`).join('');
  assert.equal(templateProblems(filters).length, 20);
  assert.equal(templateProblems('{{ nothing }}'.repeat(200)).length, 20);
});
