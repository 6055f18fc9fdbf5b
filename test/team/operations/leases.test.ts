import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { MESSAGES_CODES } from '../../../src/team/rules/codes/messages-codes.ts';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { TASK_CODES } from '../../../src/team/rules/codes/tasks-codes.ts';
import { WORK_CODES } from '../../../src/team/rules/codes/work-codes.ts';
import { WRITES_CODES } from '../../../src/team/rules/codes/writes-codes.ts';
import { isRefusal } from '../../support/codes.ts';
import { TeamWorld } from '../../support/team-world.ts';

test('a lease ends with the last task that its holder is at', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  const make = (subject: string) =>
    world.call('team-lead', 'TaskCreate', { subject, description: 'd', owner: 'backend-dev' });
  const set = (taskId: string, status: string) => world.call('backend-dev', 'TaskUpdate', { taskId, status });
  for (const subject of ['API', 'More', 'Last']) await make(subject);
  for (const id of ['1', '2']) await set(id, 'in_progress');
  const lease = { path: 'package.json' };
  await world.call('backend-dev', 'FileLease', lease);
  assert.equal((await set('1', 'completed')).leases_given_back, undefined, 'it is at another');
  isRefusal(await world.refusal('frontend-dev', 'FileLease', lease), WRITES_CODES.lease_not_free, {
    path: 'package.json',
    holder: 'backend-dev',
    call: 'FileLease {"path":"package.json","release":true}',
  });
  assert.deepEqual((await set('2', 'completed')).leases_given_back, ['package.json']);
  assert.equal((await world.call('backend-dev', 'FileLease', { ...lease, release: true })).state, 'released');
  assert.equal((await world.call('frontend-dev', 'FileLease', lease)).state, 'leased');
  await set('3', 'in_progress');
  assert.equal((await set('3', 'failed')).leases_given_back, undefined, 'what another holds stays');
  assert.equal(world.state().leases.get('package.json')?.member, 'frontend-dev');
});

test('leases: for shared and unowned paths, to one at a time, for a while', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  assert.equal((await world.call('backend-dev', 'FileLease', { path: 'package.json', minutes: 5 })).state, 'leased');
  isRefusal(await world.refusal('frontend-dev', 'FileLease', { path: './package.json' }), WRITES_CODES.lease_not_free, {
    path: 'package.json',
    holder: 'backend-dev',
  });
  isRefusal(
    await world.refusal('frontend-dev', 'FileLease', { path: 'src/api/a.ts' }),
    WRITES_CODES.lease_of_owned_path,
    { path: 'src/api/a.ts', owner: 'backend-dev', ask: 'Send backend-dev' },
  );
  isRefusal(await world.refusal('frontend-dev', 'FileLease', { path: '../x' }), WORK_CODES.path_outside_project, {
    field: 'path',
    path: '../x',
  });
  isRefusal(
    await world.refusal('frontend-dev', 'FileLease', { path: `${world.root}/package.json` }),
    WRITES_CODES.lease_not_free,
    { path: 'package.json', holder: 'backend-dev' },
  );
  const made = { subject: 'Both', description: 'd', owner: 'frontend-dev' };
  for (const file of ['src/pages/../api/a.ts', `${world.root}/src/api/a.ts`])
    isRefusal(
      await world.refusal('team-lead', 'TaskCreate', { ...made, files: [file] }),
      TASK_CODES.task_file_of_other,
      { file: 'src/api/a.ts', owner: 'backend-dev' },
    );
  isRefusal(
    await world.refusal('frontend-dev', 'FileLease', { path: '.tool/config/workflow.yaml' }),
    WRITES_CODES.path_protected,
    { path: '.tool/config/workflow.yaml', what: '.tool' },
  );
  for (const path of ['src/types/', 'src/types/**'])
    isRefusal(await world.refusal('frontend-dev', 'FileLease', { path }), MESSAGES_CODES.parameter_invalid, {
      field: 'path',
      got: path,
    });
  isRefusal(
    await world.refusal('frontend-dev', 'FileLease', { path: 'src/types/a.ts', minutes: 500 }),
    MESSAGES_CODES.parameter_invalid,
    { field: 'minutes', expected: '1 to 120', got: '500' },
  );
  assert.equal((await world.call('backend-dev', 'FileLease', { path: 'src/api/a.ts' })).state, 'own');
  isRefusal(
    await world.refusal('team-lead', 'FileLease', { path: 'package-lock.json' }),
    WRITES_CODES.lead_takes_no_lease,
    { path: 'package-lock.json' },
  );
  world.clock.set(6 * 60_000);
  assert.equal((await world.call('frontend-dev', 'FileLease', { path: 'package.json' })).state, 'leased');
  assert.equal(
    (await world.call('frontend-dev', 'FileLease', { path: 'package.json', release: true })).state,
    'released',
  );
});

test('a lease is for what is written: no directory, and no link to another place', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  const lease = (path: string) => world.refusal('backend-dev', 'FileLease', { path });
  mkdirSync(join(world.root, 'src', 'types'), { recursive: true });
  mkdirSync(join(world.root, 'src', 'pages'));
  writeFileSync(join(world.root, 'src', 'types', 'real.ts'), '');
  for (const [name, target] of [
    ['out.ts', '/etc/passwd'],
    ['theirs.ts', '../pages/new.ts'],
    ['ours.ts', 'real.ts'],
  ] as const)
    symlinkSync(target, join(world.root, 'src', 'types', name));
  symlinkSync('..', join(world.root, 'src', 'types', 'up'));
  isRefusal(await lease('src/types'), WRITES_CODES.directory_not_leasable, { path: 'src/types' });
  isRefusal(await lease('src/types/up'), WRITES_CODES.directory_not_leasable, { path: 'src/types/up' });
  isRefusal(await lease('src/types/out.ts'), OPERATIONS_CODES.path_leads_outside, {
    path: 'src/types/out.ts',
    target: '/etc/passwd',
  });
  isRefusal(await lease('src/types/theirs.ts'), OPERATIONS_CODES.path_is_link, {
    target: 'src/pages/new.ts',
    call: 'FileLease {"path":"src/pages/new.ts"}',
  });
  isRefusal(await lease('src/types/ours.ts'), OPERATIONS_CODES.path_is_link, { target: 'src/types/real.ts' });
  const leased = await world.call('backend-dev', 'FileLease', { path: 'src/types/real.ts' });
  assert.equal(leased.state, 'leased');
});
