// Peak memory of the daemon's own process, as the kernel counts it: with few and with many agents at work, and with a long past.

import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { execa } from 'execa';
import { NO_USAGE } from '../src/agents/rules/usage.ts';
import { FileJournal } from '../src/daemon/journal/journal.ts';
import { agentRunning } from '../test/support/agents.ts';
import { Daemon } from '../test/support/daemon.ts';
import { startForge } from '../test/support/forge.ts';
import { type Row, withCleanup } from './figures.ts';

/** About 10 of it are packages as npm installs them, where scanners see them: a bundle without what is not used would do with 90. */
const TARGET_MB = 90;
const PAST = 10_000;

/** The most that the process held at any time, MB. */
export function peakOf(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1000;
}

export async function bareNode(): Promise<number> {
  const script = 'process.stdout.write("up"); setInterval(() => undefined, 1000)';
  const child = execa(process.execPath, ['-e', script], { reject: false });
  await once(child.stdout, 'data');
  const peak = peakOf(child.pid ?? 0);
  child.kill();
  await child;
  return peak;
}

/** A past of finished issues, as a daemon that ran for months leaves it. */
async function writePast(directory: string, issues: number): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const journal = new FileJournal({ directory, now: Date.now });
  for (let issue = 1_000_000; issue < 1_000_000 + issues; issue++) {
    const branch = `tool/issue-${issue}`;
    const run = `bench.${issue}`;
    void journal.append({
      type: 'claimed',
      issue,
      title: `Issue ${issue}`,
      url: `http://localhost/${issue}`,
      life: 1,
      branch,
      state_labels: ['tool-todo'],
      label_event: issue,
    });
    void journal.append({
      type: 'attempt_started',
      issue,
      attempt: 1,
      run,
      runtime: 'command',
      workspace: `/workspaces/issue-${issue}`,
    });
    void journal.append({
      type: 'attempt_ended',
      issue,
      outcome: 'succeeded',
      reason: '',
      usage: NO_USAGE,
      head: 'a'.repeat(40),
      next: 'publish',
      retry_at: null,
    });
    void journal.append({ type: 'finished', issue, outcome: 'done', updated_at: '2026-01-01T00:00:00Z' });
    await journal.append({
      type: 'effect_finished',
      issue,
      effect: 'workspace_remove',
      key: 'workspace_remove',
      result: {},
    });
  }
  await journal.close();
}

/** Peak memory with so many agents at work at a time. */
async function withRunning(agents: number, past: number): Promise<number> {
  return withCleanup(async (t) => {
    const forge = await startForge(t);
    for (let number = 1; number <= agents; number++) await forge.open(`Issue ${number}`);
    const daemon = await Daemon.create(t, forge);
    if (past > 0) await writePast(daemon.stateDir, past);
    daemon.write(
      `${agentRunning('cat >/dev/null; echo at work; while [ ! -e "$TOOL_WORKSPACE/../../go" ]; do sleep 1; done')}\nagent: { max_concurrent_agents: ${agents} }`,
    );
    daemon.start();
    const started = () => daemon.log.split('[agent]     starting on').length - 1;
    await daemon.until('all agents at work', () => started() === agents, 300_000);
    await daemon.until('all have spoken', async () =>
      (await daemon.state()).running.every((row) => row.last_message !== null),
    );
    const peak = peakOf(daemon.pid);
    await daemon.stop();
    return peak;
  });
}

export async function memory(): Promise<Row[]> {
  const floor = `${(await bareNode()).toFixed(0)} MB: bare node`;
  const few = await withRunning(3, 0);
  const many = await withRunning(100, 0);
  const long = await withRunning(3, PAST);
  const row = (what: string, figure: string, target: string, met: boolean): Row => ({
    what,
    figure,
    floor,
    target,
    met,
  });
  return [
    row('peak memory, 3 agents at work', `${few.toFixed(0)} MB`, `≤ ${TARGET_MB} MB`, few <= TARGET_MB),
    row('peak memory, 100 agents at work', `${many.toFixed(0)} MB`, `≤ ${TARGET_MB} MB`, many <= TARGET_MB),
    row(
      `peak memory, 3 agents at work after ${PAST} issues`,
      `${long.toFixed(0)} MB`,
      '≤ 1.1 × without a past',
      long <= 1.1 * few,
    ),
  ];
}
