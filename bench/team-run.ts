// A team without a screen: what a lead and four teammates cost that need no time themselves, and their team servers' memory.

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { shellWord } from '../src/base/rules/command-line.ts';
import type { PhaseReport } from '../src/cli/phase-report.ts';
import { createSpec } from '../src/team/spec-documents/specs.ts';
import { gitIn } from '../test/support/git.ts';
import { McpClient } from '../test/support/mcp-client.ts';
import { type Cleanup, tempDir } from '../test/support/temp.ts';
import { median, type Row, ratioOf, ratiosOf, spread, withCleanup } from './figures.ts';
import { bareNode, peakOf } from './memory.ts';

const CLI = join(process.cwd(), 'dist', 'cli.js');
const SERVER = join(process.cwd(), 'dist', 'hooks', 'team-server.js');
const AGENT = join(process.cwd(), 'bench', 'instant-agent.mjs');
const ROUNDS = 5;
const TARGET = 70;

/** Each owns its part, and none waits for another. */
const PARTS: Readonly<Record<string, string>> = {
  'backend-dev': 'src/api/a.js',
  'frontend-dev': 'src/components/a.js',
  designer: 'design/a.md',
  tester: 'tests/a.txt',
};

// The project's own tests are its own affair.
const CONFIG = `workflow:
  team:
    enabled: true
    hooks:
      task_completed:
        require_quality_check: false
`;

type Project = {
  readonly root: string;
  readonly spec: string;
  readonly env: NodeJS.ProcessEnv;
  readonly player: string;
};

function project(t: Cleanup): Project {
  const place = tempDir(t);
  const root = join(place, 'project');
  mkdirSync(join(root, '.tool', 'config'), { recursive: true });
  writeFileSync(join(root, '.tool', 'config', 'workflow.yaml'), CONFIG);
  writeFileSync(join(root, '.gitignore'), '.tool/teams/\n.tool/state/\n.tool/cache/\n');
  const owners = Object.entries(PARTS);
  const made = createSpec(
    root,
    {
      feature: 'four parts',
      title: 'Four parts',
      status: 'approved',
      about: 'Four parts that have nothing to do with each other.',
      requirements: owners.map(([owner, path], index) => ({
        id: `R${index + 1}`,
        text: `The part of ${owner} shall stand in ${path}.`,
      })),
      outOfScope: [],
      design: 'One file each.',
      tasks: owners.map(([owner, path], index) => ({
        id: `T${index + 1}`,
        subject: `Part ${index + 1}`,
        description: '',
        files: [path],
        domain: 'backend',
        owner,
        dependsOn: [],
        requirements: [`R${index + 1}`],
      })),
      scenarios: owners.map(([, path], index) => ({
        id: `A${index + 1}`,
        requirements: [`R${index + 1}`],
        given: ['nothing'],
        when: ['the team is done'],
        outcomes: [`${path} is there`],
      })),
    },
    '2026-01-05',
  );
  if (!made.ok) throw new Error(made.problems.map(({ words }) => words).join('; '));
  const git = gitIn(root);
  git('init', '-q', '-b', 'main', '.');
  git('add', '-A');
  git('-c', 'user.name=x', '-c', 'user.email=x@localhost', 'commit', '-qm', 'Begin');
  const { PATH } = process.env;
  return {
    root,
    spec: made.id,
    env: { PATH, HOME: place, TMPDIR: place, TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' },
    player: `exec ${[process.execPath, AGENT, SERVER, JSON.stringify(PARTS)].map(shellWord).join(' ')}`,
  };
}

/** From the command to its end, with everything in one branch; ms. */
async function run({ root, spec, env, player }: Project): Promise<number> {
  const begin = performance.now();
  const args = ['run', spec, '--team', '--pattern=design_implementation', '--json', '--command', player];
  const options = { cwd: root, env, extendEnv: false, stdin: 'ignore' } as const;
  const { stdout } = await execa(process.execPath, [CLI, ...args], options);
  const took = performance.now() - begin;
  const report: PhaseReport = JSON.parse(stdout);
  if (report.files !== Object.keys(PARTS).length) throw new Error(`expected a file of each, got ${report.files}`);
  return took;
}

async function runs(): Promise<Row> {
  const times: number[] = [];
  const floors: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    floors.push(performance.now() - from);
    times.push(await withCleanup((t) => run(project(t))));
  }
  const ratio = median(ratiosOf(times, floors));
  return {
    what: 'tool run: four teammates that take no time, from the command to one branch',
    figure: ratioOf(ratio, spread(times, 'ms')),
    floor: `node -e 0: ${spread(floors, 'ms')}`,
    target: `≤ ${TARGET} ×`,
    met: ratio <= TARGET,
  };
}

async function memory(): Promise<Row> {
  return withCleanup(async (t) => {
    const { root, env } = project(t);
    const given = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value ?? '']));
    const client = await McpClient.start(t, root, given, { name: 'bench' });
    await client.call('TaskList', {});
    const own = peakOf(client.pid);
    const bare = await bareNode();
    return {
      what: 'memory of our own process beside each teammate, its team server',
      figure: `${own.toFixed(0)} MB`,
      floor: `${bare.toFixed(0)} MB: bare node`,
      target: '–',
      met: true,
    };
  });
}

export async function teamRun(): Promise<readonly Row[]> {
  return [await runs(), await memory()];
}
