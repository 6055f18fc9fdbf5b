// From the start of the process to the first agent at work, with three issues waiting and nothing cloned before.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentRunning } from '../test/support/agents.ts';
import { Daemon } from '../test/support/daemon.ts';
import { startForge } from '../test/support/forge.ts';
import { tempDir } from '../test/support/temp.ts';
import { median, type Row, ratioOf, ratiosOf, spread, withCleanup } from './figures.ts';

const ROUNDS = 15;
const TARGET = 15;

async function oneRound(): Promise<{ readonly daemon: number; readonly node: number; readonly clone: number }> {
  return withCleanup(async (t) => {
    const forge = await startForge(t);
    for (let number = 1; number <= 3; number++) await forge.open(`Issue ${number}`);
    const daemon = await Daemon.create(t, forge);
    const stamp = join(daemon.directory, 'started');
    daemon.write(agentRunning(`[ -e ${stamp} ] || date +%s%3N > ${stamp}; sleep 600`));
    const startedAt = Date.now();
    daemon.start();
    await daemon.until('the first agent', () => existsSync(stamp) && readFileSync(stamp, 'utf8').endsWith('\n'));
    const took = Number(readFileSync(stamp, 'utf8')) - startedAt;
    await daemon.stop();

    const nodeAt = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    const node = performance.now() - nodeAt;
    const directory = tempDir(t);
    const cloneAt = performance.now();
    execFileSync('git', ['clone', '--quiet', forge.bare, join(directory, 'clone')]);
    return { daemon: took, node, clone: performance.now() - cloneAt };
  });
}

export async function firstAgent(): Promise<Row> {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await oneRound());
  const took = rounds.map((round) => round.daemon);
  const floors = rounds.map((round) => round.node + round.clone);
  const ratio = median(ratiosOf(took, floors));
  return {
    what: 'process start → first agent started, clone included, 3 issues',
    figure: ratioOf(ratio, spread(took, 'ms')),
    floor: `${spread(floors, 'ms')}: bare node ${median(rounds.map((round) => round.node)).toFixed(0)} + bare clone ${median(rounds.map((round) => round.clone)).toFixed(0)}`,
    target: `≤ ${TARGET} ×`,
    met: ratio <= TARGET,
  };
}
