// `tool demo`: the daemon as it is, on an embedded forge, watched from outside.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import kleur from 'kleur';
import type { Account } from '../adapters/forge/accounts.ts';
import { Forge } from '../adapters/forge/forge.ts';
import { fileIssues, importProject, seedProject } from '../adapters/forge/seed.ts';
import { tryGit } from '../adapters/git/git.ts';
import { packageRoot } from '../adapters/package-root.ts';
import { ToolError } from '../domain/errors.ts';
import type { StateView } from '../engine/daemon/view.ts';
import { table } from '../http/dashboard.ts';
import { DemoScreen } from './demo-screen.ts';
import { type EndSignal, SIGNAL_CODES, SIGNALS } from './signals.ts';

export type DemoOptions = {
  readonly issues?: number;
  readonly repo?: string;
  readonly keep?: boolean;
  readonly json?: boolean;
};

const OWNER = 'maintainer';
const LABEL = 'tool-todo';
const TIMEOUT_MS = 10 * 60_000;
const LEAST = 5;

const ACCOUNTS: readonly Account[] = [
  { login: OWNER, role: 'admin', type: 'User', token: 'demo-token-of-the-maintainer' },
  { login: 'toolcrew-bot', role: 'write', type: 'User', token: 'demo-token-of-the-daemon' },
  { login: 'stranger', role: 'none', type: 'User', token: 'demo-token-of-a-stranger' },
];

export type DemoRow = {
  readonly number: number;
  readonly title: string;
  readonly outcome: string;
  readonly pull_request: string | null;
  readonly branch: string | null;
  readonly files: number;
  readonly seconds: number;
};

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise<void>((done) => server.close(() => done()));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function workflowText(forge: Forge, repo: string, root: string, port: number, test: boolean): string {
  return `---
tracker:
  repo: ${OWNER}/${repo}
  api_url: ${forge.url}
polling: { interval_ms: 1000 }
workspace: { root: ${JSON.stringify(join(root, 'workspaces'))} }
state: { dir: ${JSON.stringify(join(root, 'state'))} }
agent: { max_concurrent_agents: 3, max_attempts: 2, max_retry_backoff_ms: 500 }
tool:
  runtime: patch
${test ? '  command: [node, --test]\n' : ''}server: { port: ${port} }
---
`;
}

/**
 * Starts the daemon as a program of its own, with nothing of this one's environment but what programs need, and out of
 * reach of the terminal: it is told to end once, by this program, and takes the time to end its agents.
 */
function startDaemon(root: string): { readonly child: ChildProcess; readonly log: () => string } {
  const { PATH, HOME, LANG, TMPDIR } = process.env;
  const child = spawn(process.execPath, [join(packageRoot(), 'dist', 'cli.js'), 'serve', join(root, 'WORKFLOW.md')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
    env: { PATH, HOME, LANG, TMPDIR, GITHUB_TOKEN: 'demo-token-of-the-daemon' },
  });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString('utf8')).slice(-100_000);
  });
  return { child, log: () => log };
}

async function readState(port: number): Promise<StateView | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/state`);
    const state: StateView = JSON.parse(await response.text());
    return state;
  } catch {
    return undefined;
  }
}

/** Whether nothing is left to happen: every issue came to its end, or waits for somebody whom the daemon may trust. */
function isOver(state: StateView, numbers: readonly number[]): boolean {
  const ended = new Set(state.completed.map((row) => row.issue_number));
  const waiting = new Set(
    state.queued.filter((row) => /may not write|nobody is known/.test(row.reason)).map((row) => row.issue_number),
  );
  return numbers.every((number) => ended.has(number) || waiting.has(number));
}

async function filesIn(repository: string, branch: string): Promise<number> {
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
    { title: 'PULL REQUEST', max: 60 },
    { title: 'BRANCH', max: 24 },
    { title: 'FILES', max: 5 },
    { title: 'SECONDS', max: 7 },
  ];
  const cells = rows.map((row) => [
    `#${row.number}`,
    row.outcome,
    row.pull_request ?? '–',
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
    const waits = state.queued.find((queued) => queued.issue_number === row.number);
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

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await ended;
  clearTimeout(timer);
}

export async function demoCommand(options: DemoOptions): Promise<void> {
  const count = options.issues ?? LEAST;
  if (count < LEAST) throw new ToolError('usage', `--issues: expected at least ${LEAST}, got ${count}`);
  const startedAt = performance.now();
  const root = mkdtempSync(join(tmpdir(), 'toolcrew-demo-'));
  const interrupted = new AbortController();
  // Where it was started by npm, there may be no command of that name.
  const self = process.env.npm_lifecycle_event === 'demo' ? 'node dist/cli.js' : 'tool';
  let exitCode = 0;
  const onSignal = (signal: EndSignal) => {
    exitCode = SIGNAL_CODES[signal];
    if (interrupted.signal.aborted) {
      // Asked twice: nobody wants to wait. The daemon has been told already.
      rmSync(root, { recursive: true, force: true });
      process.exit(exitCode);
    }
    interrupted.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const closers: (() => Promise<void> | void)[] = [() => rmSync(root, { recursive: true, force: true })];
  try {
    const repository = join(root, 'forge.git');
    const source = options.repo === undefined ? undefined : resolve(options.repo);
    const repo = source === undefined ? 'wordsmith' : 'project';
    const issues =
      source === undefined ? await seedProject(repository, count) : await importProject(source, repository, count);
    const forge = await Forge.start({ owner: OWNER, repo, repository, accounts: ACCOUNTS });
    closers.push(() => forge.close());
    const numbers = await fileIssues(forge, `/repos/${OWNER}/${repo}`, issues, LABEL);
    const port = await freePort();
    writeFileSync(join(root, 'WORKFLOW.md'), workflowText(forge, repo, root, port, source === undefined));
    const { child, log } = startDaemon(root);
    closers.push(() => endChild(child));

    const screen = new DemoScreen({
      issues: numbers.map((number, index) => ({ number, title: issues[index]?.title ?? '' })),
      quiet: options.json === true,
    });
    if (options.json !== true)
      process.stdout.write(`  forge      ${forge.url}/${OWNER}/${repo}\n  dashboard  http://localhost:${port}\n\n`);
    let state: StateView | undefined;
    while (!interrupted.signal.aborted) {
      state = (await readState(port)) ?? state;
      if (state !== undefined) screen.show(state);
      if (state !== undefined && isOver(state, numbers)) break;
      if (child.exitCode !== null || child.signalCode !== null)
        throw new ToolError('internal', `the daemon ended by itself:\n${log()}`);
      if (performance.now() - startedAt > TIMEOUT_MS)
        throw new ToolError('internal', `not over after ${TIMEOUT_MS / 60_000} minutes:\n${log()}`);
      await delay(100, undefined, { signal: interrupted.signal }).catch(() => undefined);
    }
    screen.close();
    if (state === undefined || interrupted.signal.aborted) {
      process.exitCode = exitCode;
      return;
    }
    const seconds = Math.round((performance.now() - startedAt) / 10) / 100;
    const rows = await rowsOf(state, numbers, repository);
    if (options.json === true) process.stdout.write(`${JSON.stringify({ issues: rows, seconds }, null, 2)}\n`);
    else printTable(rows, state, seconds);
    if (options.keep === true) {
      process.stderr.write(
        [
          '\n  still up, until you press Ctrl-C:',
          `dashboard  http://localhost:${port}`,
          `forge      ${forge.url}/${OWNER}/${repo}`,
          `API        ${forge.url}, as its owner with the header "Authorization: token ${ACCOUNTS[0]?.token}"`,
          `output     ${self} logs ${numbers[0]} ${join(root, 'WORKFLOW.md')}`,
          `files      ${root}\n`,
        ].join('\n  '),
      );
      await new Promise<void>((done) => interrupted.signal.addEventListener('abort', () => done(), { once: true }));
    } else if (options.json !== true) {
      process.stdout.write(
        `  All of it is gone now. To look around: ${self} demo --keep leaves the dashboard and the forge up.\n`,
      );
    }
  } finally {
    for (const closer of closers.reverse()) await closer();
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}
