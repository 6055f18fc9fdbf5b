import assert from 'node:assert/strict';
import test from 'node:test';
import { BASE, fields, startForge } from '../../../support/forge.ts';

test('dependencies and sub-issues are counted in rows, and refused as the original refuses them', async (t) => {
  const { forge, open, close } = await startForge(t);
  for (const title of ['first', 'second', 'third']) await open(title);
  const row = async (number: number) =>
    fields((await forge.call('maintainer', 'GET', `${BASE}/issues/${number}`)).data);
  const ids = await Promise.all([1, 2, 3].map(async (number) => Number((await row(number)).id)));
  const add = async (number: number, path: string, body: unknown, login = 'maintainer') =>
    (await forge.call(login, 'POST', `${BASE}/issues/${number}/${path}`, body)).status;
  const blockedBy = 'dependencies/blocked_by';
  assert.equal(await add(1, blockedBy, { issue_id: ids[1] }), 201);
  assert.equal(await add(1, blockedBy, { issue_id: ids[2] }), 201);
  assert.equal(await add(1, 'sub_issues', { sub_issue_id: ids[2] }), 201);
  assert.deepEqual(
    [
      await add(1, blockedBy, { issue_id: ids[1] }),
      await add(1, blockedBy, { issue_id: ids[0] }),
      await add(1, blockedBy, { issue_id: String(ids[1]) }),
      await add(1, blockedBy, { issue_id: 9999 }),
      await add(99, blockedBy, { issue_id: ids[1] }),
      await add(1, blockedBy, { issue_id: ids[1] }, 'stranger'),
      await add(2, 'sub_issues', { sub_issue_id: ids[2] }),
      await add(3, 'sub_issues', { sub_issue_id: ids[0] }),
    ],
    [422, 422, 422, 404, 404, 403, 422, 422],
  );
  await close(2);
  const { data } = await forge.call('maintainer', 'GET', `${BASE}/issues?state=all&sort=created&direction=asc`);
  const [first, second, third] = Array.isArray(data) ? data.map(fields) : [];
  const none = { blocked_by: 0, total_blocked_by: 0, blocking: 0, total_blocking: 0 };
  assert.deepEqual(first?.issue_dependencies_summary, { ...none, blocked_by: 1, total_blocked_by: 2 });
  assert.deepEqual(first?.sub_issues_summary, { total: 1, completed: 0, percent_completed: 0 });
  assert.deepEqual(second?.issue_dependencies_summary, { ...none, blocking: 0, total_blocking: 1 });
  assert.deepEqual(third?.issue_dependencies_summary, { ...none, blocking: 1, total_blocking: 1 });
  assert.deepEqual(first, await row(1), 'a list has the same rows');
  const listed = await forge.call('toolcrew-bot', 'GET', `${BASE}/issues/1/${blockedBy}?per_page=1&page=2`);
  assert.deepEqual(Array.isArray(listed.data) && listed.data.map((one) => [fields(one).number, fields(one).state]), [
    [3, 'open'],
  ]);
});
