// A hundred issues whose agents take a second each, ten at a time, beside a plain script that does the same.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { agentRunning } from '../test/support/agents.ts';
import { cleanEnv, Daemon } from '../test/support/daemon.ts';
import { DAEMON_TOKEN, startForge } from '../test/support/forge.ts';
import { tempDir } from '../test/support/temp.ts';
import { type Row, withCleanup } from './figures.ts';

const ISSUES = 100;
const SLOTS = 10;
const IDEAL_MS = (ISSUES / SLOTS) * 1000;
const TARGET = 1;

/** What an agent does in its second: a file, a commit. */
const WORK = 'sleep 1 & echo "$TOOL_ISSUE" > done.txt; git add -A; git commit -qm Done; wait';

/** The same agents, ten at a time, as a plain script would run them: a clone before each, a push after it, nothing else. */
async function plainScript(): Promise<number> {
  return withCleanup(async (t) => {
    const { forge } = await startForge(t);
    const cwd = tempDir(t);
    const address = forge.cloneUrl.replace('://', `://x-access-token:${DAEMON_TOKEN}@`);
    const identity = ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'bench'],
      [`GIT_${who}_EMAIL`, 'bench@localhost'],
    ]);
    let number = 0;
    const slot = async () => {
      while (number < ISSUES) {
        number += 1;
        const script = `git clone -q ${address} ${number} && cd ${number} && git checkout -qb issue-${number} && { ${WORK}; } && git push -q origin issue-${number}`;
        const env = cleanEnv(cwd, { ...Object.fromEntries(identity), TOOL_ISSUE: String(number) });
        const child = spawn('/bin/sh', ['-ec', script], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
        const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
        if (code !== 0) throw new Error(`the plain script ended with ${code}: ${said}`);
      }
    };
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: SLOTS }, slot));
    return performance.now() - startedAt;
  });
}

export async function hundredIssues(): Promise<Row> {
  return withCleanup(async (t) => {
    const plain = await plainScript();
    const forge = await startForge(t);
    for (let number = 1; number <= ISSUES; number++) await forge.open(`Issue ${number}`);
    // The default interval: between two polls the daemon knows by itself what comes next.
    const daemon = await Daemon.create(t, forge, { pollMs: 30_000 });
    const stamps = join(daemon.directory, 'stamps');
    mkdirSync(stamps);
    // A file's own time is the stamp: no program is needed for it.
    const stamp = (what: string) => `: > ${stamps}/${what}-$TOOL_ISSUE`;
    const script = `${stamp('start')}; ${WORK}; ${stamp('end')}`;
    daemon.write(`${agentRunning(script)}\nagent: { max_concurrent_agents: ${SLOTS} }`);
    daemon.start();
    // The log is read, not the state: asking for that over and over would be work of its own.
    const done = () => daemon.log.split('state changed to tool-done').length - 1;
    await daemon.until('all issues done', () => done() === ISSUES, 300_000);
    const times = (what: string) =>
      readdirSync(stamps)
        .filter((name) => name.startsWith(`${what}-`))
        .map((name) => statSync(join(stamps, name)).mtimeMs);
    const took = Math.max(...times('end')) - Math.min(...times('start'));
    const pulls = (await forge.pulls()).length;
    return {
      what: `${ISSUES} issues × 1 s agents, ${SLOTS} slots: first agent's start → last agent's end`,
      figure: `${(took / plain).toFixed(2)} × (${(took / 1000).toFixed(2)} s = ${(took / IDEAL_MS).toFixed(2)} × ideal); ${pulls} pull requests`,
      floor: `${(plain / 1000).toFixed(2)} s: a plain script of git clone, agent, git push, without a daemon or a pull request`,
      target: `≤ ${TARGET} ×`,
      met: took <= TARGET * plain && times('end').length === ISSUES,
    };
  });
}
