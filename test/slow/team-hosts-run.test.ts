// A team builds a SPEC in the real host program: from the typed command to the team's end, with all that is refused on the way.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test from 'node:test';
import { HOST_VERSIONS } from '../support/host.ts';
import { runStory, TEAM } from '../support/run-story.ts';
import { MENDED, SPEC, TeamHost } from '../support/team-host.ts';

const CASES = (['installed', 'plugin'] as const).flatMap((form) => HOST_VERSIONS.map((version) => ({ form, version })));

for (const { form, version } of CASES) {
  test(`${version}, ${form}: a team builds a SPEC, and the rules hold in the host`, async (t) => {
    const host = new TeamHost(t, version, form);
    const story = runStory(host);
    t.after(() => t.diagnostic(story.seen.join(' · ')));
    const { code, stderr } = await host.run(`/tool:2-run ${SPEC} --team`, story.play);
    assert.equal(code, 0, stderr);
    assert.equal(host.read('src/api/users.js'), MENDED);
    assert.ok(!existsSync(host.path('src/api/stolen.js')));

    const records = host.records(TEAM);
    assert.match(String(records.find(({ type }) => type === 'created')?.base), /^[0-9a-f]{40}$/, 'what it began from');
    const decisions = records.filter(({ type }) => type === 'decision');
    const decided = (hook: string, decision: string, member: string) =>
      decisions.filter((one) => one.hook === hook && one.decision === decision && one.member === member).length;
    assert.deepEqual(
      {
        foreign: decided('ownership', 'reject', 'frontend-dev'),
        own: decided('ownership', 'accept', 'frontend-dev'),
        lead: decided('ownership', 'reject', 'team-lead') >= 4,
        idle: decided('teammate_idle', 'reject', 'frontend-dev'),
        completion: decided('task_completed', 'reject', 'backend-dev'),
        completed: decided('task_completed', 'accept', 'backend-dev'),
      },
      { foreign: 2, own: 1, lead: true, idle: 1, completion: 1, completed: 1 },
    );
    const bys = records.filter(({ type, kind }) => type === 'message_sent' && kind === 'progress').map(({ by }) => by);
    assert.ok(bys.includes('frontend-dev') && !bys.includes('team-lead'), 'nobody speaks as another');
  });
}
