// A run at the host's own screen and in its own mode: killed and taken up, upgraded below a living team; and a search, at that of an
// older version.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fields } from '../support/forge.ts';
import { availableHosts } from '../support/host.ts';
import { HostScreen } from '../support/host-screen.ts';
import { builtPackage } from '../support/installed.ts';
import { PhaseProject } from '../support/phase-project.ts';
import { led, sectionsOf } from '../support/phase-reference.ts';
import {
  approvedFiles,
  BUILDERS,
  DEBUG_TEAM,
  ends,
  FAILURE,
  leads,
  played,
  RUN_TEAM,
  SEARCHERS,
  SPEC,
  searchers,
  startRest,
} from '../support/phase-stories.ts';
import { type Conversation, gate, LEAD, type Part, playAgents } from '../support/played-agents.ts';
import { JAVASCRIPT } from '../support/samples.ts';
import { answerOf, mentions, rows, TeamHost } from '../support/team-host.ts';
import type { Cleanup } from '../support/temp.ts';
import { toldAfterRestart, toldPhases } from '../support/told-phases.ts';

/** Builders of whom one has finished, and another has not when that is seen. */
function halfBuilt(host: TeamHost, goesOn: Part) {
  const { 'backend-dev': backend, ...others } = played(host, JAVASCRIPT.builders);
  assert.ok(backend !== undefined);
  const done = gate();
  const parts: Readonly<Record<string, Part>> = {
    ...others,
    'backend-dev': async (agent) => {
      const words = await backend(agent);
      done.open();
      return words;
    },
    'frontend-dev': goesOn,
  };
  return { parts, isHalf: done.opened };
}

const OLD_LINE = '\nThis line is of the older version alone.\n';
/** A file that both versions install, the older one otherwise. */
const OLD_FILE = '.claude/agents/team-tester.md';

/** The built package as it may have been a version before: other texts, another number. */
function olderPackage(t: Cleanup): string {
  const root = builtPackage(t);
  const manifest = fields(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...manifest, version: '0.0.9' }));
  appendFileSync(join(root, 'agents', 'team-tester.md'), OLD_LINE);
  for (const name of readdirSync(join(root, 'dist', 'hooks')).filter((one) => one.endsWith('.js')))
    appendFileSync(join(root, 'dist', 'hooks', name), '// The older version.\n');
  return root;
}

const builds = async (host: TeamHost, lead: Conversation): Promise<string> => {
  await ends(host, lead, RUN_TEAM);
  return 'IT-IS-BUILT';
};

for (const version of availableHosts(['2.1.331'])) {
  test(`${version}: the host is killed in the middle of a run, and a new session finishes it`, async (t) => {
    const host = new TeamHost(t, version, 'installed', approvedFiles());
    host.settle({ bypass: false });
    const never = new Promise<never>(() => undefined);
    const begun = gate();
    const { parts, isHalf } = halfBuilt(host, async (agent) => {
      const { tasks } = answerOf(await agent.use(host.ours('TaskList'), {}));
      const taskId = rows(tasks).find(({ owner }) => owner === agent.who)?.taskId;
      answerOf(await agent.use(host.ours('TaskUpdate'), { taskId, status: 'in_progress' }));
      begun.open();
      return never;
    });
    const toBuild = gate();
    const killed = playAgents({
      ...parts,
      [LEAD]: async (lead) => {
        toBuild.open();
        await leads(host, lead, /the final gate passed/);
        return 'It never comes so far.';
      },
    });
    const first = await HostScreen.start(t, host, killed);
    await first.during(t, async () => {
      await first.enter(`/tool:2-run ${SPEC} --team`, toBuild.opened);
      await first.until(Promise.all([isHalf, begun.opened]));
      await first.kill();
    });

    const [resumed, built] = [gate(), gate()];
    const { 'backend-dev': _, ...rest } = JAVASCRIPT.builders;
    const play = playAgents({
      ...played(host, rest),
      [LEAD]: async (lead) => {
        mentions(
          lead.news.text,
          `team ${RUN_TEAM} was restarted, and you lead it now; what was completed stays completed`,
        );
        resumed.open();
        await startRest(host, lead, RUN_TEAM, /the final gate passed/);
        const words = await builds(host, lead);
        built.open();
        return words;
      },
    });
    const second = await HostScreen.start(t, host, play);
    await second.during(t, async () => {
      await second.shows(`/tool:team-restart ${RUN_TEAM} takes it over`);
      await second.enter('/tool:team-restart', resumed.opened);
      await second.until(built.opened);
      await second.shows('IT-IS-BUILT');
    });
    const completions = host
      .records(RUN_TEAM)
      .filter(({ type, status }) => type === 'task_updated' && status === 'completed');
    assert.deepEqual(completions.map(({ task }) => task).sort(), ['1', '2', '3']);

    const project = new PhaseProject(t, BUILDERS, '', approvedFiles());
    project.play({ ...BUILDERS, 'frontend-dev': { tasks: [{ subject: 'Show', steps: [{ think_ms: 3_600_000 }] }] } });
    const child = project.start('run', SPEC, '--team');
    let said = '';
    await new Promise<void>((resolve) => {
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
        if (/task 1 is completed/.test(said)) resolve();
      });
    });
    child.kill('SIGKILL');
    await once(child, 'close');
    project.play(BUILDERS);
    await led(project, 'team-restart');
    assert.deepEqual(toldAfterRestart(host.root, RUN_TEAM), toldAfterRestart(project.root, RUN_TEAM));
    assert.deepEqual(sectionsOf(host.root, RUN_TEAM), sectionsOf(project.root, RUN_TEAM));
  });

  test(`${version}: a newer version is installed while a team works, which goes on, and the user's edits stay`, async (t) => {
    const host = new TeamHost(t, version, 'none', approvedFiles());
    host.settle({ bypass: false });
    const older = olderPackage(t);
    host.toolOf(older, 'init', host.root, '--host-version', version);
    assert.ok(host.read(OLD_FILE).includes(OLD_LINE));
    const mine = {
      '.tool/config/workflow.yaml': `${host.read('.tool/config/workflow.yaml')}# Mine.\n`,
      '.claude/agents/team-quality.md': `${host.read('.claude/agents/team-quality.md')}\nBe strict.\n`,
    };
    for (const [file, text] of Object.entries(mine)) host.write(file, text);
    const installed = gate();
    const [toBuild, built] = [gate(), gate()];
    const { 'frontend-dev': frontend } = played(host, JAVASCRIPT.builders);
    assert.ok(frontend !== undefined);
    const { parts, isHalf } = halfBuilt(host, async (agent) => {
      await installed.opened;
      return frontend(agent);
    });
    const play = playAgents({
      ...parts,
      [LEAD]: async (lead) => {
        toBuild.open();
        await leads(host, lead, /the final gate passed/);
        const words = await builds(host, lead);
        built.open();
        return words;
      },
    });
    const user = await HostScreen.start(t, host, play);
    await user.during(t, async () => {
      await user.enter(`/tool:2-run ${SPEC} --team`, toBuild.opened);
      await user.until(isHalf);
      t.diagnostic(host.tool('init', host.root, '--host-version', version));
      installed.open();
      await user.until(built.opened);
      await user.shows('IT-IS-BUILT');
    });
    assert.equal(
      fields(JSON.parse(host.read('.tool/installed.json'))).version,
      fields(JSON.parse(readFileSync('package.json', 'utf8'))).version,
    );
    for (const [file, text] of Object.entries(mine)) assert.equal(host.read(file), text);
    assert.ok(!host.read(OLD_FILE).includes(OLD_LINE));
  });
}

for (const version of availableHosts(['2.1.177']))
  test(`${version}: the first cause that is proven ends the search, as from a terminal`, async (t) => {
    const host = new TeamHost(t, version, 'installed', JAVASCRIPT.files);
    host.settle({ bypass: false });
    const [begun, found] = [gate(), gate()];
    const play = playAgents({
      ...searchers(host),
      [LEAD]: async (lead) => {
        begun.open();
        const heard = await leads(host, lead, /has proven the cause/);
        mentions(heard, 'hypothesis-2 has proven the cause: Node is too old. It is shown by: $ node --version');
        await ends(host, lead, DEBUG_TEAM);
        found.open();
        return 'NODE-IS-TOO-OLD';
      },
    });
    const user = await HostScreen.start(t, host, play);
    await user.during(t, async () => {
      await user.enter(`/tool:build-fix "${FAILURE}" --team`, begun.opened);
      await user.until(found.opened);
      await user.shows('NODE-IS-TOO-OLD');
    });
    const project = new PhaseProject(t, SEARCHERS, '', JAVASCRIPT.files);
    await led(project, 'build-fix', FAILURE, '--team');
    // How far the others have come when the cause is proven is chance.
    const told = (root: string) =>
      toldPhases(root, DEBUG_TEAM).map((kinds) =>
        kinds.filter((kind) => !/completed by hypothesis-1|in_progress by hypothesis-[13]/.test(kind)),
      );
    assert.deepEqual(told(host.root), told(project.root));
  });
