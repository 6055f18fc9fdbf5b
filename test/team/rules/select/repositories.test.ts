import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { NO_FLAGS } from '../../../../src/claude-code/rules/arguments.ts';
import { areasOf } from '../../../../src/guard/rules/areas.ts';
import { ownerOf } from '../../../../src/guard/rules/ownership.ts';
import { roleOfArea, suggestOwnership } from '../../../../src/guard/rules/suggest-ownership.ts';
import { PATTERNS } from '../../../../src/team/rules/role.ts';
import { decideMode } from '../../../../src/team/rules/select/activation.ts';
import { decompose } from '../../../../src/team/rules/select/decomposition.ts';
import { type Selection, select } from '../../../../src/team/rules/select/selection.ts';
import { teamSettings } from '../../../support/team-settings.ts';
import { ANSWERS } from './repository-answers.ts';
import { HELD_OUT, LAST } from './repository-answers-held-out.ts';

function listing(name: string): readonly string[] {
  const file = new URL(`../../../fixtures/repositories/${name}.txt`, import.meta.url);
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

const ALL = [ANSWERS, HELD_OUT, LAST].flatMap((answers) =>
  Object.entries(answers).flatMap(([repository, all]) => all.map((answer) => ({ repository, answer }))),
);

/** A critical feature that shows only in files that the text does not name. */
const UNSEEN: Readonly<Record<string, string>> = { 'a limit in one command': 'implementation' };
/** The texts that name files of their repository. */
const NAMED: Readonly<Record<string, number>> = {
  'an app that is called docs': 1,
  'a page': 2,
  'a new error code': 1,
  'a new guide': 1,
};

for (const { repository, answer } of ALL) {
  const files = filesOf(repository);
  const input = { text: answer.text, files, settings: teamSettings() };

  test(`${repository}: ${answer.name}, with the domains and the fewest files of the answer as its plan`, () => {
    const [fewest] = answer.files;
    const plan = answer.domains.map((domain, at) => ({
      domain,
      files: at === 0 ? files.slice(0, fewest) : [],
      dependsOn: [],
    }));
    const selection = select({ ...input, plan });
    assert.equal(selection.figures.files.value, fewest);
    assert.equal(selection.figures.domains.value, answer.domains.length);
    assert.equal(modeOf(selection), answer.mode);
    assert.equal(selection.pattern, UNSEEN[answer.name] ?? answer.pattern);
  });

  test(`${repository}: ${answer.name}, by its text alone`, () => {
    const selection = select(input);
    assert.equal(selection.figures.files.value, NAMED[answer.name] ?? null);
    assert.equal(selection.critical?.feature ?? null, answer.name in UNSEEN ? null : answer.critical);
    assert.equal(modeOf(selection), 'subagent');
  });
}

test('the page says how the answers come out', () => {
  const page = readFileSync(new URL('../../../../docs/selection.md', import.meta.url), 'utf8').replace(/\s+/g, ' ');
  const teams = ALL.filter(({ answer }) => answer.mode === 'team').length;
  const rows = [
    `| a plan with the domains and the fewest files of the answer | ${ALL.length} of ${ALL.length} | ${ALL.length - Object.keys(UNSEEN).length} of ${ALL.length} |`,
    `| the text alone | ${ALL.length - teams} of ${ALL.length} |`,
    `${Object.keys(NAMED).length} of the ${ALL.length} texts name a file`,
    `have given ${teams} of them to a team`,
  ];
  for (const words of rows) assert.ok(page.includes(words), words);
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
  const text =
    'Donors can pay by SEPA: fundraising/forms.py, fundraising/models.py and fundraising/tests/test_webhook.py.';
  const plain = teamSettings();
  const selection = select({ text, files, settings: plain });
  const input = { phase: 'run', roles: PATTERNS.implementation.roles, text, selection, files } as const;
  const lost = decompose({ ...input, ownership: plain.ownership });
  assert.match(lost.notes.join('\n'), /^nobody owns .*fundraising\/forms\.py/m);
  assert.match(lost.notes.join('\n'), /file_ownership could have backend-dev: fundraising\/\*\*/);
  assert.match(lost.notes.join('\n'), /^frontend-dev: nothing to do, it owns no file of the project$/m);
  const server = lost.tasks.find((task) => task.owner === 'backend-dev');
  assert.deepEqual(server?.files, []);
  assert.match(server?.description ?? '', /the first write to one lends it to you: fundraising\/forms\.py/);

  const found = decompose({ ...input, ownership: suggestOwnership(files) });
  assert.deepEqual(found.notes, []);
  assert.ok(found.tasks.find((task) => task.owner === 'backend-dev')?.files.includes('fundraising/models.py'));
  assert.ok(found.tasks.find((task) => task.owner === 'tester')?.files.includes('fundraising/tests/test_webhook.py'));
});
