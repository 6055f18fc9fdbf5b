// Causes that end a team early, with real processes: the same tasks go on one at a time, and the reason is logged. A teammate that cannot be
// started is in team-run.test.ts.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { TeammateScript } from '../../src/cli/agents/agent-teammate.ts';
import { TeamHistory } from '../../src/team/log/team-history.ts';
import { LEAD_CODES } from '../../src/team/rules/codes/lead-codes.ts';
import { FALLBACK_TRIGGERS, type FallbackTrigger, TEAMS_VARIABLE } from '../../src/team/rules/fallback.ts';
import { joined, lineLike, textLike, wordsLike } from '../support/codes.ts';
import { PhaseProject } from '../support/phase-project.ts';
import { ANALYST, ARCHITECT, RESEARCHER } from '../support/plan-results.ts';
import { SPEC, shopProject, shopScript, WORK } from '../support/shop-spec.ts';

const LONG_MS = 3_600_000;
const OUTPUT = '$ node --version\nv20';

/** The results of one task each; who is named thinks for long before. */
function telling(results: Readonly<Record<string, string>>, thinking: readonly string[] = []): TeammateScript {
  return Object.fromEntries(
    Object.entries(results).map(([role, result]) => [
      role,
      { tasks: [{ subject: '', steps: [{ think_ms: thinking.includes(role) ? LONG_MS : 0 }], result }] },
    ]),
  );
}

const PLANS = { researcher: RESEARCHER, analyst: ANALYST, architect: ARCHITECT };
const VERDICTS = Object.fromEntries(
  [1, 2, 3].map((at) => [`hypothesis-${at}`, `refuted: it was never otherwise\n${OUTPUT}`]),
);

type Ended = { readonly code: number | null; readonly stderr: string };

/**
 * Starts a phase; as soon as the task is completed, and nobody completes another, the condition comes about.
 * @param then what happens once that is said
 */
async function struck(
  project: PhaseProject,
  args: readonly string[],
  id: string,
  strike: () => void,
  then: () => void = () => undefined,
): Promise<Ended> {
  const child = project.start(...args, '--json');
  let stderr = '';
  const left = [
    { words: new RegExp(`task ${id} is completed`), act: strike },
    { words: wordsLike(LEAD_CODES.fell_back), act: then },
  ];
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
    while (left[0]?.words.test(stderr)) left.shift()?.act();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

/** That it fell back for that reason, once, and did each task once. */
async function assertFallen(project: PhaseProject, { code, stderr }: Ended, trigger: FallbackTrigger): Promise<void> {
  assert.equal(code, 0, stderr);
  const said = stderr.split('\n').filter((line) => line.includes(`: ${FALLBACK_TRIGGERS[trigger]}: `));
  assert.equal(said.length, 1, stderr);
  assert.match(
    said[0] ?? '',
    joined(/^\[lead\] +(toolcrew: )?warn: /, lineLike(LEAD_CODES.fell_back, { team: /tool-\S+/ })),
  );
  const [name = ''] = project.names('.tool/teams/archive');
  const completed: string[] = [];
  let most = 0;
  let found = '';
  const history = new TeamHistory({
    directory: join(project.root, '.tool', 'teams', 'archive', name),
    from: 'beginning',
    onRecord: (record, refusal, { session, tasks, fallback }) => {
      if (refusal === null && record.type === 'task_updated' && record.status === 'completed')
        completed.push(record.task);
      if (session !== 'fallback') return;
      found = fallback?.trigger ?? '';
      most = Math.max(most, [...tasks.values()].filter(({ status }) => status === 'in_progress').length);
    },
  });
  await history.close();
  assert.equal(found, trigger);
  assert.deepEqual(completed.sort(), ['1', '2', '3'], 'what was finished is not repeated');
  assert.equal(most, 1, 'one at a time');
}

const MAP = '.claude/settings.local.json';

function setVariable(project: PhaseProject): void {
  project.env = { [TEAMS_VARIABLE]: undefined };
  mkdirSync(join(project.root, '.claude'));
  writeFileSync(join(project.root, MAP), JSON.stringify({ env: { [TEAMS_VARIABLE]: '1' } }));
}

test('the variable is taken out of the settings while a team plans', async (t) => {
  const project = new PhaseProject(t, telling(PLANS, ['analyst', 'architect']));
  setVariable(project);
  const args = ['plan', 'Users can log out of their account', '--team'];
  const strike = () => rmSync(join(project.root, MAP));
  const ended = await struck(project, args, '1', strike, () => project.play(telling(PLANS)));
  await assertFallen(project, ended, 'variable_unset');
  assert.equal(project.names('.tool/specs').length, 1);
});

test('team mode is switched off while a team builds', async (t) => {
  const project = shopProject(t);
  project.play(shopScript({ T2: LONG_MS }));
  const config = join(project.root, '.tool', 'config', 'workflow.yaml');
  const ended = await struck(project, ['run', SPEC, '--team'], '1', () => {
    project.play(shopScript());
    writeFileSync(config, readFileSync(config, 'utf8').replace('enabled: true', 'enabled: false'));
  });
  await assertFallen(project, ended, 'not_enabled');
  for (const { id, file } of WORK)
    assert.match(project.git('show', `tool/tool-run-${SPEC.toLowerCase()}:${file}`), new RegExp(id));
});

test('a team cannot be made', async (t) => {
  const project = shopProject(t);
  mkdirSync(join(project.root, '.tool', 'cache'));
  writeFileSync(join(project.root, '.tool', 'cache', 'objects'), 'no directory');
  await assertFallen(project, await project.lead('run', SPEC, '--team'), 'team_create_failed');
});

const UNREACHABLE = 'echo "API Error: Connection error."; exit 1';

test('a teammate that looks for a cause does not reach its model', async (t) => {
  const project = new PhaseProject(t, telling(VERDICTS));
  project.before = `[ "$TOOL_TEAMMATE" = hypothesis-2 ] && [ "$TOOL_TEAMMATE_RUN" = 1 ] && { ${UNREACHABLE}; }; `;
  const { code, stderr } = await project.lead('build-fix', 'TypeError in session', '--team');
  assert.match(stderr, /\(no_hypothesis_proven\)$/m);
  assert.equal(code, 1);
  await assertFallen(project, { code: 0, stderr }, 'network_error');
});

test('without a fallback the command ends with the reason, and the next one goes on from there', async (t) => {
  const project = shopProject(t, '    fallback:\n      enabled: false\n');
  project.before = `[ "$TOOL_TEAMMATE" = tester ] && { ${UNREACHABLE}; }; `;
  const { code, stderr } = await project.lead('run', SPEC, '--team');
  assert.equal(code, 1);
  assert.match(
    stderr,
    joined(
      /^tool: /,
      textLike(LEAD_CODES.fallback_disabled, {
        why: 'a network error',
        causes: /tester: .*API Error: Connection error\./,
      }),
      ' (team_ended_badly)\n',
    ),
  );
  assert.doesNotMatch(stderr, /sub-agents/);
  project.before = '';
  const again = await project.lead('team-restart', '--json');
  assert.equal(again.code, 0, again.stderr);
  assert.doesNotMatch(again.stderr, /task [12] is completed/, 'what was finished is not repeated');
});

// The other ways to a team, and when there is none, are in test/team/operations/take-over.test.ts.
test('what went on one at a time for the variable is a team by --force, although it is still missing', async (t) => {
  const project = shopProject(t);
  project.env = { [TEAMS_VARIABLE]: '0' };
  project.play(shopScript({ T2: LONG_MS }));
  const child = project.start('run', SPEC, '--team');
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
    if (said.includes('task 1 is completed')) child.kill('SIGINT');
  });
  await once(child, 'close');
  assert.match(said, /sub-agents in place of a team/);
  project.play(shopScript());
  const { code, stderr } = await project.lead('run', SPEC, '--team', '--force');
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    new RegExp(
      `team tool-run-${SPEC.toLowerCase()} stood in sub-agent mode \\(${TEAMS_VARIABLE} is not 1\\): its work goes on as a team`,
    ),
  );
  assert.doesNotMatch(stderr, /task 1 is completed|sub-agents in place/);
  const sessions = project
    .archived()
    .split('\n')
    .filter((line) => line.includes('"type":"fell_back"') || line.includes('"type":"restarted"'))
    .map((line) => /"type":"(\w+)"/.exec(line)?.[1]);
  assert.deepEqual(sessions, ['fell_back', 'restarted']);
  assert.match(project.archived(), /"event":"gate_passed"/, 'steps of a team alone');
});
