// `tool run` with teammates that are the real host program: a whole SPEC is built, and the rules hold in each of them.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { DEMO_FILES, DEMO_SCRIPT, DEMO_SPEC } from '../../src/cli/demo/demo-team-project.ts';
import { TEAMS_VARIABLE } from '../../src/team/rules/fallback.ts';
import { cleanEnv, runTool, startTool } from '../support/daemon.ts';
import { fields } from '../support/forge.ts';
import { gitIn } from '../support/git.ts';
import { availableHosts, type HostVersion, hostProgram } from '../support/host.ts';
import { writeTree } from '../support/installed.ts';
import { ModelServer } from '../support/model-server.ts';
import { type Aside, scriptedHosts } from '../support/scripted-hosts.ts';
import { API_KEY, refused, rows, shellRefused } from '../support/team-host.ts';
import { tempDir } from '../support/temp.ts';

const TEAM = 'tool-run-spec-guestbook-001';

type Run = {
  readonly root: string;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly model: ModelServer;
  readonly git: (...args: readonly string[]) => string;
};

async function runTeam(
  t: TestContext,
  version: HostVersion,
  isInstalled: boolean,
  asides: (root: string) => Readonly<Record<string, Aside>>,
): Promise<Run> {
  const place = tempDir(t);
  const [root, home, bin] = [join(place, 'project'), join(place, 'home'), join(place, 'bin')];
  for (const directory of [root, home, bin]) mkdirSync(directory);
  writeTree(root, DEMO_FILES);
  symlinkSync(hostProgram(version), join(bin, 'claude'));
  const git = gitIn(root);
  git('init', '-q', '-b', 'main');
  // With hooks and agents of its own in each worktree, beside those that the lead brings.
  if (isInstalled) {
    const { code, stderr } = await runTool(['init', root, '--host-version', version], { env: cleanEnv(home) });
    assert.equal(code, 0, stderr);
  }
  git('add', '-A');
  git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'Begin');
  const play = scriptedHosts(DEMO_SCRIPT, asides(root));
  const model = await ModelServer.start(t, play.script);
  const env = cleanEnv(home, {
    PATH: `${bin}:${process.env.PATH}`,
    ANTHROPIC_API_KEY: API_KEY,
    ANTHROPIC_BASE_URL: model.url,
    IS_SANDBOX: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    [TEAMS_VARIABLE]: '1',
  });
  const args = ['run', DEMO_SPEC, '--team', '--pattern=quality_gate', '--json'];
  const running = startTool(t, args, { cwd: root, env });
  const { code, stdout, stderr } = await Promise.race([running.ended, play.failed]).catch((error: unknown) => {
    t.diagnostic(running.stderr);
    throw error;
  });
  return { root, code, stdout, stderr, model, git };
}

/** The oldest takes no agent by its name, the next holds none to its tools, newer ones do both. */
const CASES: readonly (readonly [HostVersion, boolean])[] = [
  ...availableHosts(['2.1.33', '2.1.100']).map((version) => [version, false] as const),
  ...availableHosts(['2.1.331']).map((version) => [version, true] as const),
];

for (const [version, isInstalled] of CASES)
  test(`${version}: hosts without a screen build a SPEC, led by code${isInstalled ? ', in a project that has the command installed' : ''}`, async (t) => {
    const { root, code, stdout, stderr, model, git } = await runTeam(t, version, isInstalled, (main) => ({
      'frontend-dev': async (mate) => {
        const foreign = await mate.use('Write', { file_path: mate.path('src/api/stolen.js'), content: 'x' });
        refused(foreign, "src/api/stolen.js is backend-dev's");
        await shellRefused(mate.agent, 'echo x > src/api/stolen.js', "src/api/stolen.js is backend-dev's");
        const elsewhere = await mate.use('Write', { file_path: join(main, 'src/components/x.js'), content: 'x' });
        assert.ok(elsewhere.isError, 'what is not in its worktree is not its own');
        refused(
          await mate.team('SendMessage', { recipient: 'all', type: 'shutdown_request', content: 'x' }),
          'team-lead',
        );
      },
      quality: async (mate) => {
        const { tools } = mate.agent.request;
        assert.deepEqual(
          ['Write', 'Edit', 'NotebookEdit', 'Bash'].filter((tool) => tools.includes(tool)),
          [],
        );
      },
    }));
    assert.equal(code, 0, stderr);
    const report = fields(JSON.parse(stdout));
    assert.equal(report.outcome, 'done');
    assert.deepEqual(
      rows(report.tasks).filter(({ outcome }) => outcome !== 'completed'),
      [],
    );
    assert.ok(Number(report.rejections) >= 3, 'two foreign writes and one completion were refused');
    const branch = String(report.branch);
    assert.match(git('show', `${branch}:src/api/entries.js`), /says: 'is missing'/);
    assert.match(git('show', `${branch}:src/components/banner.js`), /Welcome/);
    assert.ok(!git('ls-tree', '-r', '--name-only', branch).includes('stolen'));
    assert.ok(!existsSync(join(root, 'src/components/x.js')));
    assert.equal(git('status', '--porcelain').trim(), '', 'the checkout itself is as it was');
    assert.ok(model.requests.some(({ system }) => system.includes('You are `quality`')));
    assert.ok(branch.includes(TEAM));
  });
