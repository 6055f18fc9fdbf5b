import assert from 'node:assert/strict';
import test from 'node:test';
import { DEFAULT_TEAM_SETTINGS } from '../../../src/team/rules/default-settings.ts';
import { CHOSEN_SOLO, FALLBACK_TRIGGERS } from '../../../src/team/rules/fallback.ts';
import { aloneOf, resumeMode, type WantedMode } from '../../../src/team/rules/resume-mode.ts';
import { decideAgain, prerequisitesOf } from '../../../src/team/rules/select/activation.ts';
import { LEAD, Story, teamOf } from '../../support/team.ts';

// Written down from what a person may expect, not from the code: why there is no team, what the command says now → how it goes on.
// `asked`: a flag asks for a team, and it can be had · `found`: without a flag it would be one · `no`: it would be none.
const TABLE = `
variable_unset     | asked | team
variable_unset     | found | team
variable_unset     | no    | alone | it would be none
not_enabled        | asked | team
not_enabled        | found | team
not_enabled        | no    | alone | it would be none
settings_broken    | asked | team
settings_broken    | found | team
settings_broken    | no    | alone | it would be none
host_version       | asked | team
host_version       | found | team
host_version       | no    | alone | it would be none
team_create_failed | asked | team
team_create_failed | found | alone | ${FALLBACK_TRIGGERS.team_create_failed}: as it was; its command with --team makes a team of it
team_create_failed | no    | alone | it would be none
spawn_failed       | asked | team
spawn_failed       | found | alone | ${FALLBACK_TRIGGERS.spawn_failed}: as it was; its command with --team makes a team of it
spawn_failed       | no    | alone | it would be none
network_error      | asked | team
network_error      | found | alone | ${FALLBACK_TRIGGERS.network_error}: as it was; its command with --team makes a team of it
network_error      | no    | alone | it would be none
solo               | asked | team
solo               | found | alone | no team was wanted: as it was; its command with --team makes a team of it
solo               | no    | alone | it would be none
`;

const WISHES: Readonly<Record<string, WantedMode>> = {
  asked: { mode: 'team', reasons: ['--team'], isAsked: true },
  found: { mode: 'team', reasons: ['the thresholds'], isAsked: false },
  no: { mode: 'subagent', reasons: ['it would be none'], isAsked: false },
};

const ROWS = TABLE.trim()
  .split('\n')
  .map((line) => line.split('|').map((one) => one.trim()));

/** Tasks of these, one each, that go on one at a time. */
function fallen(trigger: string, owners: readonly string[] = ['tester']): Story {
  const story = teamOf([]);
  for (const owner of owners) story.tell('task_created', { owner });
  return story.tell('fell_back', { trigger, reason: 'as it was' });
}

test('the table has every trigger', () => {
  const triggers = [...Object.keys(FALLBACK_TRIGGERS), CHOSEN_SOLO].flatMap((one) =>
    Object.keys(WISHES).map((wish) => `${one} ${wish}`),
  );
  assert.deepEqual(ROWS.map(([trigger, wish]) => `${trigger} ${wish}`).sort(), triggers.sort());
});

for (const [trigger = '', wish = '', as, why] of ROWS)
  test(`${trigger}, ${wish}: it goes on ${as === 'team' ? 'as a team' : 'one at a time'}`, () => {
    const now = WISHES[wish];
    assert.ok(now !== undefined);
    assert.deepEqual(resumeMode(fallen(trigger).state, now, 10), {
      as,
      why: why === undefined ? [] : [why],
      alone: { trigger, reason: 'as it was' },
    });
  });

const ASKED: WantedMode = { mode: 'team', reasons: ['--team'], isAsked: true };

test('what is a team, or is gone, goes on as it is', () => {
  const story = teamOf(['tester']);
  assert.equal(resumeMode(story.state, ASKED, 10), null);
  assert.equal(resumeMode(fallen('solo').tell('deleted').state, ASKED, 10), null);
});

test('whoever began one at a time and was gone before it was on record is known by what was decided', () => {
  const story = new Story().tell('proposed', { alone: 'variable_unset', reasons: ['--team', 'the variable is not 1'] });
  assert.equal(aloneOf(story.state), null, 'nothing stands yet');
  story.tell('created');
  const alone = { trigger: 'variable_unset', reason: '--team; the variable is not 1' };
  assert.deepEqual(aloneOf(story.state), alone);
  assert.deepEqual(resumeMode(story.state, ASKED, 10), { as: 'team', why: [], alone });
  story.tell('restarted', { alone: true });
  assert.deepEqual(aloneOf(story.state), alone, 'it goes on so');
  story.tell('restarted');
  assert.equal(aloneOf(story.state), null, 'it is a team from here on');
});

test('more roles have open tasks than there may be teammates: it goes on one at a time', () => {
  const story = fallen('variable_unset', ['tester', 'backend-dev', 'frontend-dev']);
  assert.deepEqual(resumeMode(story.state, ASKED, 2)?.why, [
    'its open tasks are meant for 3 teammates (tester, backend-dev, frontend-dev), and max_teammates is 2',
  ]);
  story.tell('task_updated', { task: '2', status: 'completed', by: LEAD, epoch: 0 });
  assert.equal(resumeMode(story.state, ASKED, 2)?.as, 'team');
});

test('what takes it up without deciding goes by what a team needs', () => {
  const at = (value: string, isForced = false) =>
    decideAgain(
      prerequisitesOf({ ...DEFAULT_TEAM_SETTINGS, enabled: true }, '2.1.177', { value, source: 'shell' }),
      isForced,
    );
  assert.deepEqual(at('1'), { mode: 'team', reasons: [] });
  assert.deepEqual(at('0', true), { mode: 'team', reasons: [] });
  assert.deepEqual(at('0'), {
    mode: 'subagent',
    reasons: [
      'variable: expected TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS=1, got "0" from the shell; mend: export TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS=1',
    ],
  });
});
