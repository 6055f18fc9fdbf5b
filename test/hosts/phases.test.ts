// The commands of the host, each to its end in the real program, without a screen and at it, beside the same work led from a terminal:
// the same documents, the same steps in the log, the same report.

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { execaSync } from 'execa';
import { availableHosts, type HostVersion } from '../support/host.ts';
import { HostScreen } from '../support/host-screen.ts';
import { PhaseProject } from '../support/phase-project.ts';
import { documentsOf, fromTerminal, led, reportOf, sectionsOf } from '../support/phase-reference.ts';
import {
  alone,
  BUILDERS,
  ends,
  FEATURE,
  FILES,
  leads,
  PLAN_TEAM,
  PLANNERS,
  planAlone,
  played,
  RUN_TEAM,
  SPEC,
} from '../support/phase-stories.ts';
import { barrier, gate, LEAD, type Part, type Play, playAgents } from '../support/played-agents.ts';
import { PYTHON } from '../support/samples.ts';
import { type HostOptions, type HostRun, mentions, TeamHost } from '../support/team-host.ts';
import { type Cleanup, finallyDo } from '../support/temp.ts';
import { archivedState, liveState, toldPhases } from '../support/told-phases.ts';

/** Of the whole file: what is asked for within a test would end with that. */
const SHARED: Cleanup = { after };
finallyDo(SHARED, () => undefined);

const DOCUMENTS = ['acceptance.md', 'plan.md', 'spec.md'];

/** The project has no formatter, no linter and no audit: complexity and secrets are measured without. */
const SCORES: readonly Score[] = [
  ['tested', 'passed', 5],
  ['readable', 'not_measured', null],
  ['unified', 'not_measured', null],
  ['secured', 'passed', 5],
  ['trackable', 'passed', 5],
];

type Score = readonly [dimension: string, state: string, score: number | null];

/** TRUST 5 of the work of all as it was measured last: what is held against thresholds. */
function scoresOf(root: string, team: string): readonly Score[] {
  const { gate } = archivedState(root, team);
  assert.equal(gate?.task, null);
  const dimensions = gate.trust5?.dimensions ?? [];
  for (const { figures, source } of dimensions) assert.ok(figures.length > 0 && source !== '');
  return dimensions.map(({ dimension, state, score }) => [dimension, state, score]);
}

function installed(t: Cleanup, version: HostVersion): TeamHost {
  return new TeamHost(t, version, 'installed', FILES);
}

function tempProject(t: Cleanup, script: typeof PLANNERS): PhaseProject {
  return new PhaseProject(t, script, '', FILES);
}

let terminal: ReturnType<typeof fromTerminal> | undefined;
/** Once, for all versions of the host. */
function reference(): ReturnType<typeof fromTerminal> {
  terminal ??= fromTerminal(SHARED);
  return terminal;
}

async function session(host: TeamHost, prompt: string, play: Play, options?: HostOptions): Promise<HostRun> {
  const run = await host.run(prompt, play, options);
  assert.equal(run.code, 0, run.stderr);
  return run;
}

function denials({ events }: HostRun): unknown[] {
  return events.flatMap(({ type, permission_denials: list }) => (type === 'result' && Array.isArray(list) ? list : []));
}

/** What the user installs first: what the doctor says is missing. */
function installPackages(host: TeamHost): void {
  execaSync({ cwd: host.root })`python3 -m venv .venv`;
  const [, command = ''] = /run `([^`]+)`/.exec(host.tried('doctor')) ?? [];
  mentions(command, /^\.venv\/bin\/python -m pip install \S+$/);
  // As in a shell of the user's own. Where no index can be reached, pip has to say so before the test's time is over.
  const env = { ...process.env, PIP_DEFAULT_TIMEOUT: '15', PIP_RETRIES: '1' };
  execaSync({ cwd: host.root, env, extendEnv: false })`sh -c ${command}`;
}

const approves: (host: TeamHost) => Part = (host) => async (lead) => {
  mentions(lead.news.text, `the user has approved ${SPEC}`);
  await ends(host, lead, PLAN_TEAM);
  return 'The team is gone.';
};

for (const version of availableHosts(['2.1.33']))
  test(`${version}: a wish is planned, approved, built and synced, as from a terminal`, async (t) => {
    const host = installed(t, version);
    // In the mode that everybody starts with, in a folder that nobody has called trusted.
    const strict = { bypass: false } as const;
    const planning = playAgents({
      // None of them goes on before all are there: they look at the same time.
      ...played(host, PLANNERS, barrier(3)),
      [LEAD]: async (lead) => {
        const heard = await leads(host, lead, /has been written from the planners' results/);
        mentions(heard, `exactly "approve ${SPEC}"`);
        return 'Please say whether that is what you want.';
      },
    });
    const planned = await session(host, `/tool:1-plan "${FEATURE}" --team`, planning, strict);
    assert.deepEqual(denials(planned), []);
    const id = String(planned.events.find(({ subtype }) => subtype === 'init')?.session_id);
    const approved = await session(host, `approve ${SPEC}`, alone(approves(host)), {
      ...strict,
      args: ['--resume', id],
    });
    assert.deepEqual(denials(approved), []);
    const { project, planned: expected, synced } = await reference();
    assert.deepEqual(documentsOf(host.root), expected);
    assert.deepEqual(Object.keys(expected), DOCUMENTS);
    host.tool('spec', 'check', SPEC);
    assert.deepEqual(toldPhases(host.root, PLAN_TEAM), toldPhases(project.root, PLAN_TEAM));

    let committing = '';
    const building = playAgents({
      ...played(host, BUILDERS),
      [LEAD]: async (lead) => {
        // What the user is to do is what the lead is told to tell them.
        [, committing = ''] =
          /commit it with the SPEC's id \(`([^`]+)`\), then `\/tool:3-sync /.exec(lead.news.text) ?? [];
        await leads(host, lead, /the final gate passed/);
        await ends(host, lead, RUN_TEAM);
        return 'It is built.';
      },
    });
    await session(host, `/tool:2-run ${SPEC} --team`, building);
    mentions(committing, 'git commit');
    assert.deepEqual(toldPhases(host.root, RUN_TEAM), toldPhases(project.root, RUN_TEAM));
    assert.deepEqual(sectionsOf(host.root, RUN_TEAM), sectionsOf(project.root, RUN_TEAM));
    assert.deepEqual(scoresOf(host.root, RUN_TEAM), SCORES);
    assert.deepEqual(scoresOf(project.root, RUN_TEAM), SCORES);
    mentions(reportOf(host.root, RUN_TEAM), `files: 3 of 3 written under a task of ${SPEC} [log of ${RUN_TEAM}]`);

    const tells: Part = async (lead) => {
      mentions(lead.news.text, `/tool:3-sync ${SPEC}: all requirements are met; status: completed`);
      return 'All of it is met.';
    };
    const tooEarly: Part = async (lead) => {
      mentions(lead.news.text, '(sync_nothing_committed)');
      mentions(lead.news.text, committing);
      return 'It is to be committed first.';
    };
    await session(host, `/tool:3-sync ${SPEC}`, alone(tooEarly));
    host.git('config', 'user.name', 'x');
    host.git('config', 'user.email', 'x@example.com');
    execaSync({ cwd: host.root, env: host.env(''), extendEnv: false })`sh -c ${committing}`;
    await session(host, `/tool:3-sync ${SPEC}`, alone(tells));
    assert.deepEqual(documentsOf(host.root), synced);
    assert.match(synced['spec.md'] ?? '', /^status: completed$/m);
  });

for (const version of availableHosts(['2.1.331']))
  test(`${version}: at the screen, in the host's own mode, it is the same in a project in Python`, async (t) => {
    const host = new TeamHost(t, version, 'installed', PYTHON.files);
    host.settle({ bypass: false });
    installPackages(host);
    const [begun, planned, approved, left] = [gate(), gate(), gate(), gate()];
    const [toBuild, built, synced] = [gate(), gate(), gate()];
    let committing = '';
    const play = playAgents({
      ...played(host, PYTHON.planners, barrier(3)),
      ...played(host, PYTHON.builders),
      [LEAD]: async (lead) => {
        begun.open();
        const heard = await leads(host, lead, /has been written from the planners' results/);
        mentions(heard, `exactly "approve ${SPEC}"`);
        planned.open();
        await lead.hears(new RegExp(`the user has approved ${SPEC}`), 'PLEASE-SAY');
        approved.open();
        await ends(host, lead, PLAN_TEAM);
        left.open();
        await lead.hears(/toolcrew: \/tool:2-run/, 'THE-PLAN-STANDS');
        toBuild.open();
        [, committing = ''] =
          /commit it with the SPEC's id \(`([^`]+)`\), then `\/tool:3-sync /.exec(lead.news.text) ?? [];
        await leads(host, lead, /the final gate passed/);
        await ends(host, lead, RUN_TEAM);
        built.open();
        await lead.hears(/toolcrew: \/tool:3-sync/, 'IT-IS-BUILT');
        mentions(lead.news.text, `/tool:3-sync ${SPEC}: all requirements are met; status: completed`);
        synced.open();
        return 'ALL-IS-MET';
      },
    });
    const user = await HostScreen.start(t, host, play);
    await user.during(t, async () => {
      await user.enter(`/tool:1-plan "${FEATURE}" --team`, begun.opened);
      await user.until(planned.opened);
      await user.shows('PLEASE-SAY');
      await user.enter(`approve ${SPEC}`, approved.opened);
      await user.until(left.opened);
      await user.clear('THE-PLAN-STANDS');
      await user.enter(`/tool:2-run ${SPEC} --team`, toBuild.opened);
      await user.until(built.opened);
      await user.shows('IT-IS-BUILT');
      host.git('config', 'user.name', 'x');
      host.git('config', 'user.email', 'x@example.com');
      execaSync({ cwd: host.root, env: host.env(''), extendEnv: false })`sh -c ${committing}`;
      await user.enter(`/tool:3-sync ${SPEC}`, synced.opened);
      await user.shows('ALL-IS-MET');
    });
    assert.deepEqual(user.asked, [], 'the user is asked nothing');
    assert.deepEqual([...user.hookErrors], [], 'what hooks tell agents is no error to the user');
    assert.match(host.read(`.tool/specs/${SPEC}/spec.md`), /^status: completed$/m);
    const { project } = await reference();
    assert.deepEqual(toldPhases(host.root, PLAN_TEAM), toldPhases(project.root, PLAN_TEAM));
    // There, a task's gate also does not pass at first.
    const told = (root: string) =>
      toldPhases(root, RUN_TEAM).map((kinds) => kinds.filter((kind) => kind !== 'gate of a task not passed'));
    assert.deepEqual(told(host.root), told(project.root));
  });

// That each version holds an agent to its tasks by that hook is in run-story.ts.
for (const version of availableHosts(['2.1.331']))
  test(`${version}: an architect that needs the requirements waits for them, and goes on where it is`, async (t) => {
    const host = installed(t, version);
    const { analyst, ...parts } = played(host, PLANNERS);
    const isRefused = () =>
      liveState(host.root, PLAN_TEAM).decisions.some(({ about }) => about === 'TaskUpdate 3 completed');
    const planning = playAgents({
      ...parts,
      analyst: async (agent) => {
        // The model of the analyst takes longer than that of the architect.
        while (!isRefused()) await delay(100);
        return (await analyst?.(agent)) ?? '';
      },
      [LEAD]: async (lead) => {
        await leads(host, lead, /has been written from the planners' results/);
        return 'Please say whether that is what you want.';
      },
    });
    await session(host, `/tool:1-plan "${FEATURE}" --team`, planning);
    const { decisions, members } = liveState(host.root, PLAN_TEAM);
    const rejected = decisions.filter(({ decision, member }) => decision === 'reject' && member === 'architect');
    // It goes on by the word of the hook, once, and by nothing else.
    assert.deepEqual(
      rejected.map(({ hook }) => hook),
      ['operation', 'teammate_idle'],
    );
    assert.equal(members.get('architect')?.epoch, 1);
  });

for (const version of availableHosts(['2.1.331'])) {
  test(`${version}: alone, the same list is gone through one at a time, as from a terminal`, async (t) => {
    const host = installed(t, version);
    await session(host, `/tool:1-plan "${FEATURE}" --solo`, alone(planAlone(host)));
    const project = tempProject(t, PLANNERS);
    await led(project, 'plan', FEATURE, '--solo');
    assert.deepEqual(documentsOf(host.root), documentsOf(project.root));
    assert.match(documentsOf(host.root)['spec.md'] ?? '', /^status: awaiting_approval$/m);
    // There, each is a teammate of its own; here the lead does it all, and answers for it.
    const solo = (root: string) =>
      toldPhases(root, PLAN_TEAM).map((kinds) =>
        kinds
          .filter((kind) => !/^member_|in_progress|shutdown_request/.test(kind))
          .map((kind) => kind.replace(/^(task \d+ completed) by .*$/, '$1')),
      );
    assert.deepEqual(solo(host.root), solo(project.root));
  });
}
