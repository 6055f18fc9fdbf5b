import assert from 'node:assert/strict';
import test from 'node:test';
import { failure } from '../../../src/base/rules/errors.ts';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import type { CheckResult } from '../../../src/gate/rules/quality.ts';
import { WORK_CODES } from '../../../src/team/rules/codes/work-codes.ts';
import { checkOf } from '../../support/checks.ts';
import { isRefusal, wordsLike, wordsOf } from '../../support/codes.ts';
import { failing, TeamWorld } from '../../support/team-world.ts';

test('the gate stands in TaskUpdate: a failing check keeps a task open, with what failed', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.gate = [failing('b'.repeat(40))];
  assert.match(
    await world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' }),
    /users\.test\.ts: says 404/,
  );
  assert.equal(world.state().tasks.get('1')?.status, 'in_progress');
  world.gate = [{ ...failing('c'.repeat(40)), ok: true, checks: [] }];
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed', result: 'it stands' });
  assert.equal(world.state().tasks.get('1')?.status, 'completed');
});

test('changed source that the coverage report does not name keeps a task open', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const [good] = world.gate;
  assert.ok(good !== undefined);
  const checks = [
    { ...checkOf(failing('b'.repeat(40), 'coverage'), 'coverage'), outcome: 'passed' as const, details: [] },
  ];
  const unreported = ['src/api/users.ts', 'src/api/old.ts'].map((path) => ({ path, lines: 240 }));
  world.gate = [{ ...good, checks, coverage: 100, reach: { covered: 60, total: 60, unreported, below: [] } }];
  world.changed = ['src/api/users.ts'];
  assert.match(
    await world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' }),
    /coverage: .* 20 % .*\n {2}- src\/api\/users\.ts: .*\n {2}Add tests/,
  );
  assert.equal(world.state().gate?.coverage, 20);
  // What was so before is nobody's work now.
  world.changed = [];
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
});

test('a secret in a file of one’s own is rejected where all work in one place; that of another is not one’s own', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  for (const owner of ['backend-dev', 'frontend-dev'])
    await world.call('team-lead', 'TaskCreate', { subject: `Of ${owner}`, description: 'd', owner });
  const asked: unknown[] = [];
  Object.assign(world.context, {
    newSecrets: async (work: unknown) => {
      asked.push(work);
      return [{ commit: null, path: 'src/api/pay.ts', line: 3, kind: 'a Stripe key' }];
    },
  });
  for (const [name, taskId] of [
    ['backend-dev', '1'],
    ['frontend-dev', '2'],
  ] as const)
    await world.call(name, 'TaskUpdate', { taskId, status: 'in_progress' });
  world.changed = ['src/api/pay.ts'];
  const write = { about: 'Write', reason: 'its own', fingerprint: '', paths: world.changed };
  await world.append({ type: 'decision', hook: 'ownership', decision: 'accept', member: 'backend-dev', ...write });
  isRefusal(
    await world.refusal('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' }),
    WORK_CODES.files_hold_secrets,
    { places: ['src/api/pay.ts:3 (a Stripe key)'] },
  );
  assert.equal(world.measured, 0, 'nothing is measured for it');
  await world.call('frontend-dev', 'TaskUpdate', { taskId: '2', status: 'completed' });
  assert.deepEqual(asked, [{ base: 'tree', head: 'tree' }], 'of whom no file has changed, none is looked through');
});

test('a secret in a file that the lead wrote is rejected; of one that delegates the work tree is not looked at', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  let looks = 0;
  const workTree = {
    ...world.context.workTree,
    tree: async () => {
      looks += 1;
      return 'tree';
    },
  };
  const newSecrets = async () => [{ commit: null, path: 'notes.ts', line: 1, kind: 'a Stripe key' }];
  Object.assign(world.context, { workTree, newSecrets });
  world.settings = {
    ...world.settings,
    hooks: { ...world.settings.hooks, taskCompleted: { enabled: true, requireQualityCheck: false } },
  };
  for (const subject of ['Look at it', 'Write it'])
    await world.call('team-lead', 'TaskCreate', { subject, description: 'd' });
  world.changed = ['notes.ts'];
  await world.call('team-lead', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.equal(looks, 0);
  const write = { about: 'Write', reason: 'its own', fingerprint: '', paths: world.changed };
  await world.append({ type: 'decision', hook: 'ownership', decision: 'accept', member: 'team-lead', ...write });
  isRefusal(
    await world.refusal('team-lead', 'TaskUpdate', { taskId: '2', status: 'completed' }),
    WORK_CODES.files_hold_secrets,
    { places: ['notes.ts:1 (a Stripe key)'] },
  );
});

test('where several build in one tree, a builder is held to what no test loads of its own, and told its own files first', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const [good] = world.gate;
  assert.ok(good !== undefined);
  const gate = (covered: number, outcome: 'passed' | 'failed') => {
    const files = Array.from({ length: 30 }, (_, index) => `src/pages/${index}.ts`);
    const below = [...files, 'src/api/users.ts', 'src/lib/words.ts'].map((path) => ({
      ...{ path, percent: 0, covered: 0, total: 10 },
    }));
    const unreported = ['src/pages/home.ts', 'src/api/log.ts'].map((path) => ({ path, lines: 100 }));
    const details = files.slice(0, 20).map((path) => `${path}: 0 % (0 of 10 lines)`);
    const check = { ...checkOf(failing('b'.repeat(40), 'coverage'), 'coverage'), outcome, details, figure: '1 %' };
    const reach = { covered, total: 900, unreported, below };
    return { ...good, ok: outcome === 'passed', checks: [check], coverage: (100 * covered) / 900, reach };
  };
  const write = { about: 'Write', reason: 'leased', fingerprint: '', paths: ['src/lib/words.ts'] };
  await world.append({ type: 'decision', hook: 'ownership', decision: 'accept', member: 'backend-dev', ...write });
  world.changed = ['src/pages/home.ts'];
  await world.append({
    ...{ type: 'decision', hook: 'ownership', decision: 'accept', member: 'frontend-dev' },
    ...{ about: 'Write', reason: 'its own', fingerprint: '', paths: world.changed },
  });
  const complete = { taskId: '1', status: 'completed' };

  world.gate = [gate(100, 'failed')];
  const told = await world.refused('backend-dev', 'TaskUpdate', complete);
  assert.match(told, /\n {2}- src\/api\/users\.ts: .*\n {2}- src\/lib\/words\.ts: .*\n {2}- src\/pages\/0\.ts: /);
  assert.doesNotMatch(told, /home\.ts/);

  world.gate = [gate(720, 'passed')];
  world.changed.push('src/api/log.ts');
  const own = await world.refused('backend-dev', 'TaskUpdate', complete);
  assert.match(
    own,
    wordsLike(GATE_CODES.coverage_below_target, {
      ...{ reached: '72 %', target: 80 },
      unreported: 'a changed file that the report does not name',
    }),
  );
  assert.match(own, /\n {2}- src\/api\/log\.ts: not in the coverage report/);
  world.changed.pop();
  await world.call('backend-dev', 'TaskUpdate', complete);
});

test('after three rejections without change a completion is let through, and the lead is told', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.gate = [failing('b'.repeat(40))];
  const step = WORK_CODES.work_not_accepted.help;
  for (let count = 0; count < 3; count++) {
    const rejected = await world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
    assert.equal(rejected.split('\n').at(-1), step);
  }
  const answer = await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.match(String(answer.checks), wordsLike(WORK_CODES.accepted_after_rejections, { count: 3, told: 'lead' }));
  const mail = await world.call('team-lead', 'Inbox');
  assert.match(JSON.stringify(mail.messages), / \(completion_escalated\)/);
  for (const text of [String(answer.checks), JSON.stringify(mail.messages)])
    assert.ok(!text.includes(step), 'nothing is left to complete');
});

test('where the checks of others take too long a completion is asked for again, and nothing counts as rejected', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.whyNot = failure(GATE_CODES.checks_busy, {});
  for (let count = 0; count < 4; count++)
    isRefusal(
      await world.refusal('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' }),
      WORK_CODES.checks_not_run,
      { said: wordsOf(GATE_CODES.checks_busy, {}).replace(/\.$/, '') },
    );
  assert.equal(world.state().rejections.size, 0);
  world.whyNot = null;
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed', result: 'it stands' });
  assert.equal(world.state().tasks.get('1')?.status, 'completed');
});

test('missing coverage waits for the tester, where one has tasks of its own', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'tester']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('team-lead', 'TaskCreate', { subject: 'Tests', description: 'd', owner: 'tester' });
  const bad = failing('b'.repeat(40), 'coverage');
  const complete = { taskId: '1', status: 'completed' };
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.gate = [{ ...bad, coverage: 80 }];
  const enough = await world.refused('backend-dev', 'TaskUpdate', complete);
  assert.match(enough, /coverage failed/, 'enough is reached: the command fails for something else');
  world.gate = [{ ...bad, coverage: 79.9 }];
  await world.call('backend-dev', 'TaskUpdate', complete);
  await world.call('tester', 'TaskUpdate', { taskId: '2', status: 'in_progress' });
  assert.match(await world.refused('tester', 'TaskUpdate', { taskId: '2', status: 'completed' }), /coverage/);
});

test('where there is no test yet, nobody but the tester is kept from completing for that, while one has tasks of its own', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'tester']);
  for (const owner of ['backend-dev', 'backend-dev', 'tester'])
    await world.call('team-lead', 'TaskCreate', { subject: 'Some', description: 'd', owner });
  const [coverage] = failing('b'.repeat(40), 'coverage').checks;
  const gateOf = (more: Partial<CheckResult>) => {
    const gate = failing('b'.repeat(40));
    const [tests] = gate.checks;
    if (tests === undefined || coverage === undefined) throw new Error('expected a check');
    return { ...gate, checks: [{ ...tests, ...more }, coverage], coverage: null };
  };
  const complete = { taskId: '1', status: 'completed' };
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.gate = [gateOf({ reason: '1 test fails: x' })];
  assert.match(await world.refused('backend-dev', 'TaskUpdate', complete), /1 test fails: x/);
  world.gate = [gateOf({ reason: wordsOf(GATE_CODES.no_tests_ran, {}) })];
  await world.call('backend-dev', 'TaskUpdate', complete);
  await world.call('backend-dev', 'TaskUpdate', { taskId: '2', status: 'in_progress' });
  world.gate = [gateOf({ reason: 'package.json has no script "test"', command: null })];
  await world.call('backend-dev', 'TaskUpdate', { ...complete, taskId: '2' });
  await world.call('tester', 'TaskUpdate', { taskId: '3', status: 'in_progress' });
  assert.match(await world.refused('tester', 'TaskUpdate', { ...complete, taskId: '3' }), /has no script "test"/);
});

test('a file of somebody else that changed without a decision is asked about once, then told to the lead', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.changed = ['src/api/users.ts', 'src/components/Form.tsx'];
  world.passing = ['src/components/Form.tsx.tmp.1'];
  isRefusal(
    await world.refusal('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' }),
    WORK_CODES.foreign_files_changed,
    { files: ['src/components/Form.tsx'], owners: ["src/components/Form.tsx (frontend-dev's)"] },
  );
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.match(JSON.stringify((await world.call('team-lead', 'Inbox')).messages), / \(foreign_files_escalated\)/);
});

test('a completion says which files were changed that decide what is measured, accepted or not', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.changed = ['.c8rc.json', 'package.json'];
  const words = wordsLike(GATE_CODES.gate_rules_changed, { files: ['.c8rc.json', 'package.json'] });
  const [good] = world.gate;
  world.gate = [failing('b'.repeat(40))];
  assert.match(await world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' }), words);
  world.gate = good === undefined ? [] : [good];
  const { checks } = await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.match(String(checks), words);
});

test('the switches of the gate: require_quality_check and enabled', async (t) => {
  for (const taskCompleted of [
    { enabled: true, requireQualityCheck: false },
    { enabled: false, requireQualityCheck: true },
  ]) {
    const world = new TeamWorld(t);
    world.settings = { ...world.settings, hooks: { ...world.settings.hooks, taskCompleted } };
    world.gate = [failing('b'.repeat(40))];
    await world.team(['backend-dev']);
    await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
    await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
    const answer = await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
    assert.match(String(answer.checks), /^unchecked: /);
    assert.equal(world.measured, 0);
    assert.equal(world.state().decisions.at(-1)?.decision, 'accept');
  }
});
