// `tool demo`: the daemon as it is, on an embedded forge, watched from outside.

import { join, resolve } from 'node:path';
import kleur from 'kleur';
import { failure } from '../../base/rules/errors.ts';
import type { StateView } from '../../daemon/view.ts';
import { tryGit } from '../../git/git.ts';
import { table } from '../../web/text-table.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { ACCOUNTS, DemoDaemon, LABEL, OWNER } from './demo-daemon.ts';
import { DemoScreen } from './demo-screen.ts';
import { type DemoStage, withDemoStage } from './demo-stage.ts';
import { loadEmulator } from './forge/emulator.ts';
import { Forge } from './forge/forge.ts';
import { fileIssues, importProject, seedProject } from './forge/seed.ts';

export type DemoOptions = {
  readonly issues?: number;
  readonly repo?: string;
  readonly keep?: boolean;
  readonly json?: boolean;
};

const LEAST = 5;

export type DemoRow = {
  readonly number: number;
  readonly title: string;
  readonly outcome: string;
  readonly pull_request: string | null;
  readonly branch: string | null;
  readonly files: number;
  readonly seconds: number;
};

function workflowSection(forge: Forge, repo: string, test: boolean): string {
  return `tracker:
  repo: ${OWNER}/${repo}
  api_url: ${forge.url}
polling: { interval_ms: 1000 }
agent: { max_concurrent_agents: 3, max_attempts: 2, max_retry_backoff_ms: 500 }
tool:
  runtime: patch
${test ? '  command: [node, --test]\n' : ''}`;
}

/** Whether nothing is left to happen: every issue came to its end, or waits for somebody whom the daemon may trust. */
function isOver(state: StateView, numbers: readonly number[]): boolean {
  const ended = new Set(state.completed.map((row) => row.issue_number));
  const waiting = new Set(
    state.queued.filter((row) => /may not write|nobody is known/.test(row.reason)).map((row) => row.issue_number),
  );
  return numbers.every((number) => ended.has(number) || waiting.has(number));
}

/** How many files a branch of the forge changes. */
export async function filesIn(repository: string, branch: string): Promise<number> {
  const { stdout } = await tryGit(['diff', '--name-only', `refs/heads/main...refs/heads/${branch}`], {
    cwd: repository,
  });
  return stdout.split('\n').filter((line) => line !== '').length;
}

async function rowsOf(state: StateView, numbers: readonly number[], repository: string): Promise<DemoRow[]> {
  const rows: DemoRow[] = [];
  for (const number of numbers) {
    const done = state.completed.find((row) => row.issue_number === number);
    const waits = state.queued.find((row) => row.issue_number === number);
    const published = done?.pull_request ?? null;
    rows.push({
      number,
      title: done?.title ?? waits?.title ?? '',
      outcome: done?.outcome ?? (waits === undefined ? 'unknown' : 'waits'),
      pull_request: published?.url ?? null,
      branch: published === null ? null : (done?.branch ?? null),
      files: published === null ? 0 : await filesIn(repository, done?.branch ?? ''),
      seconds: done?.seconds ?? 0,
    });
  }
  return rows;
}

function printTable(rows: readonly DemoRow[], state: StateView, seconds: number): void {
  const columns = [
    { title: 'ISSUE', max: 6 },
    { title: 'OUTCOME', max: 8 },
    { title: 'PULL REQUEST', max: 12 },
    { title: 'BRANCH', max: 24 },
    { title: 'FILES', max: 5 },
    { title: 'SECONDS', max: 7 },
  ];
  const cells = rows.map((row) => [
    `#${row.number}`,
    row.outcome,
    row.pull_request === null ? '–' : `#${row.pull_request.split('/').at(-1)}`,
    row.branch ?? '–',
    row.files === 0 ? '–' : String(row.files),
    row.seconds === 0 ? '–' : row.seconds.toFixed(1),
  ]);
  const [head = '', ...lines] = table(columns, cells);
  const colour = { done: kleur.green, failed: kleur.red, waits: kleur.yellow } as const;
  process.stdout.write(`\n${kleur.bold(head)}\n`);
  lines.forEach((line, index) => {
    const outcome = rows[index]?.outcome;
    const paint =
      outcome === 'done' || outcome === 'failed' || outcome === 'waits' ? colour[outcome] : (text: string) => text;
    process.stdout.write(`${paint(line)}\n`);
  });
  for (const row of rows) {
    const failed = state.completed.find((done) => done.issue_number === row.number && done.outcome === 'failed');
    // The listing of the service may still have one that has just ended.
    const waits =
      row.outcome === 'waits' ? state.queued.find((queued) => queued.issue_number === row.number) : undefined;
    const why = failed?.reason ?? waits?.reason;
    if (why !== undefined && why !== null)
      process.stdout.write(
        `\n  #${row.number} ${failed === undefined ? 'waits' : 'failed'}: ${why.split('\n').join('\n     ')}\n`,
      );
  }
  process.stdout.write(
    `\n  ${rows.filter((row) => row.pull_request !== null).length} pull requests in ${seconds.toFixed(1)} s.\n`,
  );
}

/** Where all of it is, for whoever looks around until the demo is ended. */
export function printPlaces(stage: DemoStage, forge: Forge, repo: string, daemon: DemoDaemon, issue: number): void {
  process.stderr.write(
    [
      '\n  still up, until you press Ctrl-C:',
      `dashboard  http://localhost:${daemon.port}`,
      `forge      ${forge.url}/${OWNER}/${repo}`,
      `API        ${forge.url}, as its owner with the header "Authorization: token ${ACCOUNTS[0]?.token}"`,
      `output     ${commandName()} logs ${issue} ${daemon.workflow}`,
      `files      ${stage.root}\n`,
    ].join('\n  '),
  );
}

/** Where it was started by npm, there may be no command of that name. */
export function commandName(): string {
  return process.env.npm_lifecycle_event === 'demo' ? 'node dist/cli.js' : 'tool';
}

export async function demoCommand(options: DemoOptions): Promise<void> {
  const count = options.issues ?? LEAST;
  if (count < LEAST)
    throw failure(CLI_CODES.option_invalid, { option: '--issues', expected: `at least ${LEAST}`, got: String(count) });
  await loadEmulator();
  await withDemoStage((stage) => play(stage, count, options));
}

async function play(stage: DemoStage, count: number, options: DemoOptions): Promise<void> {
  const startedAt = performance.now();
  const repository = join(stage.root, 'forge.git');
  const source = options.repo === undefined ? undefined : resolve(options.repo);
  const repo = source === undefined ? 'wordsmith' : 'project';
  const issues =
    source === undefined ? await seedProject(repository, count) : await importProject(source, repository, count);
  const forge = await Forge.start({ owner: OWNER, repo, repository, accounts: ACCOUNTS });
  stage.atEnd(() => forge.close());
  const numbers = await fileIssues(forge, `/repos/${OWNER}/${repo}`, issues, LABEL);
  const daemon = await DemoDaemon.start(stage, workflowSection(forge, repo, source === undefined));
  const screen = new DemoScreen({
    issues: numbers.map((number, index) => ({ number, title: issues[index]?.title ?? '' })),
    quiet: options.json === true,
  });
  if (options.json !== true)
    process.stdout.write(
      `  forge      ${forge.url}/${OWNER}/${repo}\n  dashboard  http://localhost:${daemon.port}\n\n`,
    );
  const state = await daemon.watch(
    stage.signal,
    (one) => screen.show(one),
    (one) => isOver(one, numbers),
  );
  screen.close();
  if (state === undefined) return;
  const seconds = Math.round((performance.now() - startedAt) / 10) / 100;
  const rows = await rowsOf(state, numbers, repository);
  if (options.json === true) process.stdout.write(`${JSON.stringify({ issues: rows, seconds }, null, 2)}\n`);
  else printTable(rows, state, seconds);
  if (options.keep === true) {
    printPlaces(stage, forge, repo, daemon, numbers[0] ?? 1);
    await stage.keepUp();
  } else if (options.json !== true) {
    process.stdout.write(
      `  All of it is gone now. To look around: ${commandName()} demo --keep leaves the dashboard and the forge up.\n`,
    );
  }
}
