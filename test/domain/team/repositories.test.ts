import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { decideMode } from '../../../src/domain/team/activation.ts';
import { areasOf } from '../../../src/domain/team/areas.ts';
import { NO_FLAGS } from '../../../src/domain/team/arguments.ts';
import { decompose } from '../../../src/domain/team/decomposition.ts';
import { ownerOf } from '../../../src/domain/team/ownership.ts';
import { type Selection, select } from '../../../src/domain/team/selection.ts';
import { roleOfArea, suggestOwnership } from '../../../src/domain/team/suggest-ownership.ts';
import { teamSettings } from '../../support/team-settings.ts';
import { ANSWERS, type Answer } from './repository-answers.ts';
import { HELD_OUT, LAST } from './repository-answers-held-out.ts';

function listing(name: string): readonly string[] {
  const file = new URL(`../../fixtures/repositories/${name}.txt`, import.meta.url);
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}

const FILES = new Map(['realworld-app', 'djangoproject', 'fastify'].map((name) => [name, listing(name)]));

function filesOf(name: string): readonly string[] {
  const files = FILES.get(name) ?? [];
  assert.ok(files.length > 100, `${name} is a listing`);
  return files;
}

function modeOf(selection: Selection): string {
  return decideMode({
    command: 'run',
    flags: NO_FLAGS,
    settings: teamSettings(),
    hostVersion: '2.1.32',
    environment: { value: '1', source: { file: '.claude/settings.json' } },
    selection,
  }).mode;
}

/** What of a selection a person said otherwise. */
function differences(answer: Answer, selection: Selection): readonly string[] {
  const { domains, files, score } = answer;
  const found = selection.domains.map((one) => one.name).sort();
  const missing = answer.includes.filter((file) => !selection.files.includes(file));
  const mode = modeOf(selection);
  return [
    ...(found.join() === [...domains].sort().join() ? [] : [`domains ${found.join(', ')}`]),
    ...(missing.length === 0 ? [] : [`without ${missing.join(', ')}`]),
    ...(selection.fileCount >= files[0] && selection.fileCount <= files[1] ? [] : [`${selection.fileCount} files`]),
    ...(selection.score >= score[0] && selection.score <= score[1] ? [] : [`score ${selection.score}`]),
    ...((selection.critical?.feature ?? null) === answer.critical ? [] : [`critical ${selection.critical?.feature}`]),
    ...(selection.pattern === answer.pattern ? [] : [`pattern ${selection.pattern}`]),
    ...(mode === answer.mode ? [] : [`mode ${mode}`]),
  ];
}

for (const [repository, answers] of [...Object.entries(ANSWERS), ...Object.entries(LAST)])
  for (const answer of answers)
    test(`${repository}: ${answer.name}`, () => {
      const selection = select({ text: answer.text, files: filesOf(repository), settings: teamSettings() });
      assert.deepEqual(differences(answer, selection), [], selection.reasons.join('\n'));
    });

// Where it is known to see less than a person does: what would have to be understood is in no path.
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  'another look of the skeleton': ['6 files'],
  'a longer password': [
    'domains frontend, security',
    'without accounts/forms.py',
    '3 files',
    'score 4',
    'mode subagent',
  ],
  'a feed': ['domains backend, frontend'],
  'end of life on the download page': ['domains backend', 'without releases/views.py', 'score 1'],
  'a new error code': ['without lib/errors.js'],
};

for (const [repository, answers] of Object.entries(HELD_OUT))
  for (const answer of answers)
    test(`${repository}: ${answer.name}${answer.name in KNOWN ? ', seen in part' : ''}`, () => {
      const selection = select({ text: answer.text, files: filesOf(repository), settings: teamSettings() });
      assert.deepEqual(differences(answer, selection), KNOWN[answer.name] ?? [], selection.reasons.join('\n'));
    });

test('the order of the paths changes nothing', () => {
  for (const [repository, answers] of Object.entries(ANSWERS)) {
    const files = filesOf(repository);
    const turned = [...files.slice(77).reverse(), ...files.slice(0, 77)];
    const input = { settings: teamSettings() };
    for (const { text } of answers)
      assert.deepEqual(select({ ...input, text, files: turned }), select({ ...input, text, files }));
  }
});

test('proposed owners are those of the files’ areas, nearly everywhere', () => {
  for (const [repository, files] of FILES) {
    const ownership = suggestOwnership(files);
    const owned = [...areasOf(files)].filter(([, area]) => roleOfArea(area) !== null);
    const right = owned.filter(([file, area]) => [roleOfArea(area), 'shared'].includes(ownerOf(file, ownership).owner));
    assert.ok(right.length / owned.length > 0.97, `${repository}: ${right.length} of ${owned.length}`);
    const patterns = ownership.reduce((sum, one) => sum + one.patterns.length, 0);
    assert.ok(patterns < 20, `${repository}: ${patterns} patterns, too many to read`);
  }
});

test('where nobody owns what changes, the tasks say so and who could', () => {
  const files = filesOf('djangoproject');
  const text = ANSWERS.djangoproject?.[0]?.text ?? '';
  const plain = teamSettings();
  const selection = select({ text, files, settings: plain });
  const input = { phase: 'run', roles: selection.roles, text, selection, files } as const;
  const lost = decompose({ ...input, ownership: plain.ownership });
  assert.match(lost.notes.join('\n'), /^nobody owns .*fundraising\/forms\.py/m);
  assert.match(
    lost.notes.join('\n'),
    /file_ownership could have backend-dev: fundraising\/\*\*; frontend-dev: djangoproject\/\*\*/,
  );
  const server = lost.tasks.find((task) => task.owner === 'backend-dev');
  assert.deepEqual(server?.files, []);
  assert.match(server?.description ?? '', /the first write to one lends it to you: fundraising\/forms\.py/);

  const found = decompose({ ...input, ownership: suggestOwnership(files) });
  assert.deepEqual(found.notes, []);
  assert.ok(found.tasks.find((task) => task.owner === 'backend-dev')?.files.includes('fundraising/models.py'));
  assert.ok(found.tasks.find((task) => task.owner === 'tester')?.files.includes('fundraising/tests/test_webhook.py'));
});
