// A wish from the typed command to the finished SPEC, at the host's own screen and in its own mode, as a user has it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { availableHosts } from '../support/host.ts';
import { HostScreen } from '../support/host-screen.ts';
import { fromTerminal, sectionsOf } from '../support/phase-reference.ts';
import { ends, FEATURE, leads, PLAN_TEAM, played, RUN_TEAM, SPEC } from '../support/phase-stories.ts';
import { barrier, gate, LEAD, playAgents } from '../support/played-agents.ts';
import { PYTHON, type Sample, TYPESCRIPT } from '../support/samples.ts';
import { mentions, TeamHost } from '../support/team-host.ts';
import { type Cleanup, finallyDo } from '../support/temp.ts';
import { toldPhases } from '../support/told-phases.ts';

const HOSTS = ['2.1.177', '2.1.331'] as const;

/** Of the whole file: what is asked for within a test would end with that. */
const SHARED: Cleanup = { after };
finallyDo(SHARED, () => undefined);

/** What the user installs first. */
const INSTALL: Readonly<Record<string, { readonly sample: Sample; readonly install: (host: TeamHost) => void }>> = {
  TypeScript: {
    sample: TYPESCRIPT,
    install: (host) => symlinkSync(join(process.cwd(), 'node_modules'), host.path('node_modules')),
  },
  Python: {
    sample: PYTHON,
    install: (host) => {
      execFileSync('python3', ['-m', 'venv', '.venv'], { cwd: host.root });
      const [, command = ''] = /run `([^`]+)`/.exec(host.tried('doctor')) ?? [];
      mentions(command, /^\.venv\/bin\/python -m pip install \S+$/);
      // As in a shell of the user's own. Where no index can be reached, pip has to say so before the test's time is over.
      const env = { ...process.env, PIP_DEFAULT_TIMEOUT: '15', PIP_RETRIES: '1' };
      execFileSync('sh', ['-c', command], { cwd: host.root, env, stdio: 'pipe' });
    },
  },
};

for (const version of availableHosts(HOSTS))
  for (const [language, { sample, install }] of Object.entries(INSTALL))
    test(`${version}, ${language}: a wish is planned, approved, built and synced at the screen`, async (t) => {
      const host = new TeamHost(t, version, 'installed', sample.files);
      host.settle({ bypass: false });
      install(host);
      const [begun, planned, approved, left, toBuild, built, synced] = [
        gate(),
        gate(),
        gate(),
        gate(),
        gate(),
        gate(),
        gate(),
      ];
      let committing = '';
      const play = playAgents({
        ...played(host, sample.planners, barrier(3)),
        ...played(host, sample.builders),
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
        execFileSync('sh', ['-c', committing], { cwd: host.root, env: host.env('') });
        await user.enter(`/tool:3-sync ${SPEC}`, synced.opened);
        await user.shows('ALL-IS-MET');
      });
      assert.deepEqual(user.asked, [], 'the user is asked nothing');
      assert.deepEqual([...user.hookErrors], [], 'what hooks tell agents is no error to the user');
      assert.match(host.read(`.tool/specs/${SPEC}/spec.md`), /^status: completed$/m);
      // The log of the Python project also has a task's gate that did not pass.
      if (sample !== TYPESCRIPT) return;
      const { project } = await reference();
      for (const team of [PLAN_TEAM, RUN_TEAM])
        assert.deepEqual(toldPhases(host.root, team), toldPhases(project.root, team));
      assert.deepEqual(sectionsOf(host.root, RUN_TEAM), sectionsOf(project.root, RUN_TEAM));
    });

let terminal: ReturnType<typeof fromTerminal> | undefined;
/** Once, for all versions of the host. */
function reference(): ReturnType<typeof fromTerminal> {
  terminal ??= fromTerminal(SHARED);
  return terminal;
}
