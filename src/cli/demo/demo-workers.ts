// `tool demo --workers N`: a coordinator and workers over Redis, one of which is killed while its agent works.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import kleur from 'kleur';
import { signalGroup } from '../../base/processes/processes.ts';
import type { RunningProgram } from '../../base/processes/program.ts';
import { failure } from '../../base/rules/errors.ts';
import type { StateView } from '../../daemon/view.ts';
import { loadRedis } from '../../fleet/store/queue-packages.ts';
import { table } from '../../web/text-table.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { commandName, type DemoOptions, printPlaces } from './demo.ts';
import { ACCOUNTS, CLI, DemoDaemon, freePort, LABEL, OWNER } from './demo-daemon.ts';
import type { Say } from './demo-reviewers.ts';
import { type DemoStage, withDemoStage } from './demo-stage.ts';
import { loadEmulator } from './forge/emulator.ts';
import { Forge } from './forge/forge.ts';
import { fileIssues, type IssueText, seedFiles } from './forge/seed.ts';

const REPO = 'handbook';
const BASE = `/repos/${OWNER}/${REPO}`;
/** One is killed, and another one goes on. */
const LEAST = 2;
const LEASE_MS = 2_000;
const AGENT_MS = 3_000;
/** In the coordinator's log. */
const TAKEN = /issue #(\d+): attempt (\d+) is with the worker (\S+)/g;

/** Writes a page, slowly enough to be killed on the way. */
const AGENT = `import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const issue = process.env.TOOL_ISSUE;
console.log('page ' + issue + ' is being written');
await setTimeout(${AGENT_MS});
writeFileSync('page-' + issue + '.md', '# Page ' + issue + '\\n');
execFileSync('git', ['add', '--all']);
execFileSync('git', ['commit', '--quiet', '--message', 'Write page ' + issue]);
`;

type WorkersRow = {
  readonly number: number;
  readonly title: string;
  readonly outcome: string;
  /** Those that tried, in order. */
  readonly workers: readonly string[];
  readonly pull_request: string | null;
  readonly seconds: number;
};

export async function demoWorkersCommand(options: DemoOptions & { readonly workers: number }): Promise<void> {
  const { workers, issues = 2 * workers, repo } = options;
  const refuse = (option: string, expected: string, got: string) =>
    failure(CLI_CODES.option_invalid, { option, expected, got });
  if (workers < LEAST) throw refuse('--workers', `at least ${LEAST}, one of which is killed`, String(workers));
  if (issues < workers) throw refuse('--issues', `at least one for each of ${workers} workers`, String(issues));
  if (repo !== undefined) throw refuse('--repo', 'none with --workers, which has its own project', repo);
  await loadEmulator();
  await loadRedis('tool demo');
  await withDemoStage((stage) => play(stage, workers, issues, options));
}

/** Exit code of a shell for a program that is not there. */
const NOT_FOUND = 127;

/** Resolves with its address once it takes connections. */
async function startRedis(stage: DemoStage): Promise<string> {
  const port = await freePort();
  stage.signal.throwIfAborted();
  const places = ['--dir', stage.root, '--save', '', '--appendonly', 'no'];
  const program = await stage.start('redis-server', ['--port', String(port), '--bind', '127.0.0.1', ...places]);
  let said = '';
  await new Promise<void>((resolve, reject) => {
    void program.exit.then(({ exitCode }) =>
      reject(
        exitCode === NOT_FOUND
          ? failure(CLI_CODES.demo_redis_missing, {})
          : failure(CLI_CODES.demo_failed, { said: 'redis-server ended by itself', log: said }),
      ),
    );
    program.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      if (said.includes('Ready to accept connections')) resolve();
    });
  });
  return `redis://127.0.0.1:${port}`;
}

function startWorker(stage: DemoStage, name: string, queue: string, key: string): Promise<RunningProgram> {
  const [node, cli] = CLI;
  const places = ['--state-dir', join(stage.root, name, 'state'), '--root', join(stage.root, name, 'root')];
  return stage.start(node, [cli, 'worker', '--name', name, '--slots', '1', '--drain', 'return', ...places], {
    env: { TOOL_FLEET_KEY: key, TOOL_QUEUE_URL: queue },
  });
}

function workflowSection(forge: Forge, queue: string, workers: number, agent: string): string {
  return `tracker:
  repo: ${OWNER}/${REPO}
  api_url: ${forge.url}
polling: { interval_ms: 1000 }
queue: { url: "${queue}", key: $FLEET_KEY, lease_ms: ${LEASE_MS} }
agent: { max_concurrent_agents: ${workers}, max_attempts: 1, max_retry_backoff_ms: 500 }
tool:
  runtime: command
  command: ${JSON.stringify(['node', '--input-type=module', '--eval', agent])}
`;
}

function issueTexts(count: number): IssueText[] {
  const titles = Array.from({ length: count }, (_, index) => `Write page ${index + 1} of the handbook`);
  return titles.map((title) => ({ title, body: 'One page, with a heading.', author: OWNER }));
}

/** Follows the workers by the coordinator's log, and kills one that has an agent at work. */
class Workers {
  readonly #say: Say;
  readonly #programs: ReadonlyMap<string, RunningProgram>;
  readonly #tried = new Map<number, string[]>();
  readonly #ended = new Set<number>();
  readonly #read = new Set<string>();
  killed: string | null = null;

  constructor(programs: ReadonlyMap<string, RunningProgram>, say: Say) {
    this.#programs = programs;
    this.#say = say;
  }

  triedOn(issue: number): readonly string[] {
    return this.#tried.get(issue) ?? [];
  }

  look(state: StateView, log: string): void {
    for (const [line, issue = '', attempt = '', worker = ''] of log.matchAll(TAKEN)) {
      if (this.#read.has(line)) continue;
      this.#read.add(line);
      const number = Number(issue);
      this.#tried.set(number, [...this.triedOn(number), worker]);
      this.#say(worker, `works on #${issue}${attempt === '1' ? '' : `, attempt ${attempt}`}`);
    }
    for (const { issue_number: issue, outcome, pull_request: pull } of state.completed) {
      if (this.#ended.has(issue)) continue;
      this.#ended.add(issue);
      this.#say('coordinator', `#${issue} is ${outcome}${pull === null ? '' : `: pull request #${pull.number}`}`);
    }
    if (this.killed === null) this.#kill(state);
  }

  #kill({ running }: StateView): void {
    const row = running.find(
      ({ last_message: said, issue_number: issue }) => said?.startsWith('page') && this.triedOn(issue).length > 0,
    );
    const victim = row === undefined ? undefined : this.triedOn(row.issue_number).at(-1);
    if (row === undefined || victim === undefined) return;
    this.killed = victim;
    const program = this.#programs.get(victim);
    if (program !== undefined) signalGroup(program.pid, 'SIGKILL');
    this.#say(victim, kleur.red(`is killed while its agent works on #${row.issue_number}`));
  }
}

async function play(stage: DemoStage, count: number, issueCount: number, options: DemoOptions): Promise<void> {
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 10) / 100;
  const isQuiet = options.json === true;
  const say: Say = (who, text) => {
    if (!isQuiet) process.stdout.write(`  ${seconds().toFixed(1).padStart(5)} s  ${who.padEnd(12)}  ${text}\n`);
  };
  const queue = await startRedis(stage);
  const repository = join(stage.root, 'forge.git');
  await seedFiles(repository, 'An empty handbook', { 'README.md': '# Handbook\n' });
  const forge = await Forge.start({ owner: OWNER, repo: REPO, repository, accounts: ACCOUNTS });
  stage.atEnd(() => forge.close());
  const texts = issueTexts(issueCount);
  const numbers = await fileIssues(forge, BASE, texts, LABEL);
  const key = randomBytes(24).toString('base64url');
  const daemon = await DemoDaemon.start(stage, workflowSection(forge, queue, count, AGENT), { FLEET_KEY: key });
  if (!isQuiet)
    process.stdout.write(
      `  forge      ${forge.url}/${OWNER}/${REPO}\n  dashboard  http://localhost:${daemon.port}\n  queue      ${queue}\n\n`,
    );
  const names = Array.from({ length: count }, (_, index) => `worker-${index + 1}`);
  const started = names.map(async (name) => [name, await startWorker(stage, name, queue, key)] as const);
  const workers = new Workers(new Map(await Promise.all(started)), say);
  const state = await daemon.watch(
    stage.signal,
    (one) => workers.look(one, daemon.log),
    ({ completed }) => numbers.every((number) => completed.some((row) => row.issue_number === number)),
  );
  if (state === undefined) return;
  const rows = numbers.map((number, index): WorkersRow => {
    const done = state.completed.find((row) => row.issue_number === number);
    return {
      number,
      title: texts[index]?.title ?? '',
      outcome: done?.outcome ?? 'unknown',
      workers: workers.triedOn(number),
      pull_request: done?.pull_request?.url ?? null,
      seconds: done?.seconds ?? 0,
    };
  });
  const { killed } = workers;
  if (isQuiet)
    process.stdout.write(`${JSON.stringify({ issues: rows, workers: names, killed, seconds: seconds() }, null, 2)}\n`);
  else printRows(rows, killed, seconds());
  if (options.keep === true) {
    printPlaces(stage, forge, REPO, daemon, numbers[0] ?? 1);
    await stage.keepUp();
  } else if (!isQuiet)
    process.stdout.write(
      `  All of it is gone now. To look around: ${commandName()} demo --workers ${count} --keep leaves it up.\n`,
    );
}

function printRows(rows: readonly WorkersRow[], killed: string | null, seconds: number): void {
  const columns = [
    { title: 'ISSUE', max: 6 },
    { title: 'OUTCOME', max: 8 },
    { title: 'WORKERS', max: 40 },
    { title: 'PULL REQUEST', max: 12 },
    { title: 'SECONDS', max: 7 },
  ];
  const cells = rows.map((row) => [
    `#${row.number}`,
    row.outcome,
    row.workers.join(', then '),
    row.pull_request === null ? '–' : `#${row.pull_request.split('/').at(-1)}`,
    row.seconds.toFixed(1),
  ]);
  const [head = '', ...lines] = table(columns, cells);
  const pulls = rows.filter((row) => row.pull_request !== null).length;
  process.stdout.write(
    `\n${kleur.bold(head)}\n${lines.join('\n')}\n\n  ${pulls} pull requests in ${seconds.toFixed(1)} s. ${killed ?? 'No worker'} was killed; its attempt counts for nothing.\n`,
  );
}
