// `tool demo --team`: a team of four on one issue of the embedded forge, led inside the daemon; then the same tasks one at a time.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import kleur from 'kleur';
import type { TeamSummary } from '../../agents/rules/team-summary.ts';
import { shellWord } from '../../base/rules/command-line.ts';
import { failure } from '../../base/rules/errors.ts';
import { isObject } from '../../base/rules/values.ts';
import type { StateView } from '../../daemon/view.ts';
import type { CompletedRow } from '../../daemon/view-rows.ts';
import { gateWords, TASK_MAX, taskWords } from '../../web/team-lines.ts';
import { table } from '../../web/text-table.ts';
import { SCRIPT_VARIABLE } from '../agents/agent-teammate.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { teamDemoJson } from '../rules/team-demo-json.ts';
import { canRedraw } from '../screen/terminal.ts';
import { commandName, type DemoOptions, filesIn, printPlaces } from './demo.ts';
import { ACCOUNTS, CLI, DemoDaemon, LABEL, OWNER } from './demo-daemon.ts';
import { workAlone } from './demo-solo.ts';
import { type DemoStage, withDemoStage } from './demo-stage.ts';
import { DEMO_ISSUE, DEMO_SCRIPT, DEMO_SPEC, DEMO_TEAM_FILES } from './demo-team-project.ts';
import { DemoTeamScreen } from './demo-team-screen.ts';
import { loadEmulator } from './forge/emulator.ts';
import { Forge } from './forge/forge.ts';
import { fileIssues, seedFiles } from './forge/seed.ts';

const REPO = 'guestbook';
const BASE = `/repos/${OWNER}/${REPO}`;

/** The issue is done: what its team was, and the figures of it. */
type Done = {
  readonly row: CompletedRow;
  readonly team: TeamSummary;
  readonly pull: { readonly number: number; readonly url: string };
  readonly files: number;
  readonly seconds: number;
};

export async function demoTeamCommand(options: DemoOptions): Promise<void> {
  if (options.issues !== undefined)
    throw failure(CLI_CODES.option_invalid, {
      option: '--issues',
      expected: 'none with --team, which works on one issue',
      got: String(options.issues),
    });
  if (options.repo !== undefined)
    throw failure(CLI_CODES.option_invalid, {
      option: '--repo',
      expected: 'none with --team, whose teammates play one project',
      got: options.repo,
      instead: 'On a repository of your own, use tool.mode: team in WORKFLOW.md (tool serve), or tool run --team.',
    });
  await loadEmulator();
  await withDemoStage((stage) => play(stage, options));
}

/** The program that plays the teammates, as a shell runs it. */
function playerOf(stage: DemoStage): string {
  const script = join(stage.root, 'script.json');
  writeFileSync(script, JSON.stringify(DEMO_SCRIPT));
  return `${SCRIPT_VARIABLE}=${shellWord(script)} exec ${[...CLI, 'agent', 'teammate'].map(shellWord).join(' ')}`;
}

function workflowSection(forge: Forge, player: string): string {
  return `tracker:
  repo: ${OWNER}/${REPO}
  api_url: ${forge.url}
polling: { interval_ms: 5000 }
agent: { max_attempts: 2, max_retry_backoff_ms: 500 }
tool:
  runtime: command
  mode: team
  command: ${JSON.stringify(player)}
`;
}

async function play(stage: DemoStage, options: DemoOptions): Promise<void> {
  const isQuiet = options.json === true;
  const say = (text: string) => {
    if (!isQuiet) process.stdout.write(text);
  };
  const repository = join(stage.root, 'forge.git');
  await seedFiles(repository, 'A guest book', DEMO_TEAM_FILES);
  const forge = await Forge.start({ owner: OWNER, repo: REPO, repository, accounts: ACCOUNTS });
  stage.atEnd(() => forge.close());
  const [issue = 1] = await fileIssues(forge, BASE, [DEMO_ISSUE], LABEL);
  const player = playerOf(stage);
  const home = join(stage.root, 'home');
  mkdirSync(home, { recursive: true });
  const daemon = await DemoDaemon.start(stage, workflowSection(forge, player), { HOME: home });
  say(`  forge      ${forge.url}/${OWNER}/${REPO}\n  watch it   http://localhost:${daemon.port}\n\n`);
  const screen = new DemoTeamScreen({ issue, title: DEMO_ISSUE.title, quiet: isQuiet });
  const state = await daemon.watch(
    stage.signal,
    (one) => screen.show(one),
    (one) => one.completed.length > 0,
  );
  screen.close();
  if (state === undefined) return;
  const done = await whatCame(forge, repository, issue, state);
  say(`\n  The same tasks one after the other, for the time that takes:\n`);
  const { seconds: alone } = await workAlone(stage, {
    spec: DEMO_SPEC,
    repository,
    player,
    onLine: (line) => {
      const [, task] = /^\[\S+\]\s+task (\d+ ".*")$/.exec(line) ?? [];
      if (task !== undefined) say(`  · ${task}\n`);
    },
  });
  if (isQuiet) process.stdout.write(`${JSON.stringify(teamDemoJson(done, alone), null, 2)}\n`);
  else printOutcome(done, alone);
  if (options.keep === true) {
    printPlaces(stage, forge, REPO, daemon, issue);
    await stage.keepUp();
  } else
    say(
      `  All of it is gone now. To look around: ${commandName()} demo --team --keep leaves the page and the forge up.\n`,
    );
}

async function listOf(forge: Forge, path: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { data } = await forge.call(OWNER, 'GET', `${BASE}${path}`);
  return Array.isArray(data) ? data.filter(isObject) : [];
}

/** Looks at the forge: one pull request with the team's report, and the done label on the issue. */
async function whatCame(forge: Forge, repository: string, issue: number, state: StateView): Promise<Done> {
  const [row] = state.completed;
  if (row?.outcome !== 'done' || row.team === null || row.pull_request === null)
    throw failure(CLI_CODES.demo_failed, {
      said: `issue #${issue} ended as ${row?.outcome ?? 'nothing'}: ${row?.reason ?? 'no team'}`,
    });
  const pulls = await listOf(forge, '/pulls?state=all');
  const labels = (await listOf(forge, `/issues/${issue}/labels`)).map(({ name }) => name);
  const isReported = pulls.length === 1 && String(pulls[0]?.body).includes('## Tasks');
  if (!isReported || !labels.includes('tool-done'))
    throw failure(CLI_CODES.demo_failed, {
      said: `issue #${issue}: expected one pull request with the team's report, and tool-done; got ${pulls.length} and ${labels.join(', ') || 'no label'}`,
    });
  return {
    row,
    team: row.team,
    pull: row.pull_request,
    files: await filesIn(repository, row.branch),
    // From the team's beginning until its work is collected: the rest is the forge's and the daemon's.
    seconds: state.totals.seconds_running,
  };
}

function printOutcome({ row, team, pull, files, seconds }: Done, alone: number): void {
  const [head = '', ...lines] = table(
    [
      { title: 'TASK', max: 4 },
      { title: 'OUTCOME', max: 11 },
      { title: 'OWNER', max: 16 },
      { title: 'SECONDS', max: 7 },
      { title: 'WHAT', max: TASK_MAX },
    ],
    team.tasks.map((task) => [
      task.id,
      task.status.replace('_', ' '),
      task.owner ?? '–',
      task.seconds === null ? '–' : task.seconds.toFixed(1),
      taskWords(task),
    ]),
  );
  const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
  process.stdout.write(
    [
      '',
      // On a terminal the board stands above.
      ...(canRedraw(process.stdout) ? [] : [kleur.bold(head), ...lines, '']),
      `  ${counted(team.messages.count, 'message')}, ${counted(team.rejections, 'rejection')}, ${counted(files, 'file')} on ${row.branch}; gate: ${gateWords(team)}`,
      `  pull request #${pull.number} with the team's report, ${pull.url}; issue #${row.issue_number} has tool-done`,
      '',
      `  ${kleur.green(`${seconds.toFixed(1)} s`)} as a team; ${alone.toFixed(1)} s one after the other.`,
      '',
    ].join('\n'),
  );
}
