// A hundred issues whose agents take a second each, ten at a time: how close the schedule comes to the ideal one.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentRunning } from '../test/support/agents.ts';
import { Daemon } from '../test/support/daemon.ts';
import { startForge } from '../test/support/forge.ts';
import { tempDir } from '../test/support/temp.ts';
import { type Row, withCleanup } from './figures.ts';

const ISSUES = 100;
const SLOTS = 10;
const IDEAL_MS = (ISSUES / SLOTS) * 1000;
const TARGET = 1.15;

/** The same agents, ten at a time, without any daemon: what the machine itself needs. */
async function bareSchedule(): Promise<number> {
  return withCleanup(async (t) => {
    const cwd = tempDir(t);
    let left = ISSUES;
    const slot = async () => {
      while (left > 0) {
        left -= 1;
        await once(spawn('/bin/sh', ['-c', 'sleep 1'], { cwd, stdio: 'ignore' }), 'exit');
      }
    };
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: SLOTS }, slot));
    return performance.now() - startedAt;
  });
}

export async function hundredIssues(): Promise<Row> {
  return withCleanup(async (t) => {
    const bare = await bareSchedule();
    const forge = await startForge(t);
    for (let number = 1; number <= ISSUES; number++) await forge.open(`Issue ${number}`);
    const daemon = await Daemon.create(t, forge);
    const stamps = join(daemon.directory, 'stamps');
    appendFileSync(stamps, '');
    const stamp = (what: string) => `echo "${what} $(date +%s%3N)" >> ${stamps}`;
    daemon.write(
      `${agentRunning(`cat >/dev/null; ${stamp('start')}; sleep 1; echo "$TOOL_ISSUE" > done.txt; git add -A; git commit -qm Done; ${stamp('end')}`)}\nagent: { max_concurrent_agents: ${SLOTS} }`,
    );
    daemon.start();
    // The log is read, not the state: asking for that over and over would be work of its own.
    const done = () => daemon.log.split('state changed to tool-done').length - 1;
    await daemon.until('all issues done', () => done() === ISSUES, 300_000);
    const rows = readFileSync(stamps, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
    const times = (what: string) => rows.filter(([kind]) => kind === what).map(([, at]) => Number(at));
    const took = Math.max(...times('end')) - Math.min(...times('start'));
    const pulls = (await forge.pulls()).length;
    return {
      what: `${ISSUES} issues × 1 s agents, ${SLOTS} slots: first agent's start → last agent's end`,
      figure: `${(took / 1000).toFixed(2)} s = ${(took / IDEAL_MS).toFixed(2)} × ideal; ${pulls} pull requests`,
      floor: `${(bare / 1000).toFixed(2)} s: the same sleeps without a daemon`,
      target: `≤ ${TARGET} × ${IDEAL_MS / 1000} s`,
      met: took <= TARGET * IDEAL_MS && times('end').length === ISSUES,
    };
  });
}
