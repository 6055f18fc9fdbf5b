// Prints every figure beside a floor measured in the same run, and writes bench/results.md.
// usage: npm run bench [-- name …], with names of the list below; without any, all.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execaSync } from 'execa';
import { backlog } from './backlog.ts';
import type { Row } from './figures.ts';
import { firstAgent } from './first-agent.ts';
import { fleetLoad, fleetPostgres, fleetRecovery } from './fleet-load.ts';
import { fleetScale } from './fleet-scale.ts';
import { follow } from './follow.ts';
import { hookProcesses, residentGuard, teamCall } from './hooks.ts';
import { hundredIssues } from './hundred-issues.ts';
import { idlePoll } from './idle-poll.ts';
import { kills } from './kills.ts';
import { mcp } from './mcp.ts';
import { memory } from './memory.ts';
import { FLEET_NOTES } from './notes.ts';
import { repositories } from './repositories.ts';
import { teamLog } from './team-log.ts';
import { teamRun } from './team-run.ts';
import { webhook } from './webhook.ts';
import { writeGuard } from './write-guard.ts';

const BENCHMARKS: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  'idle-poll': async () => [await idlePoll()],
  'first-agent': async () => [await firstAgent()],
  follow,
  webhook,
  backlog,
  'hundred-issues': async () => [await hundredIssues()],
  memory,
  repositories,
  'team-log': teamLog,
  kills: async () => [kills()],
  'fleet-load': fleetLoad,
  'fleet-postgres': fleetPostgres,
  'fleet-recovery': fleetRecovery,
  'fleet-scale': fleetScale,
  hooks: hookProcesses,
  'resident-guard': residentGuard,
  'team-call': teamCall,
  'write-guard': writeGuard,
  mcp,
  'team-run': teamRun,
};

/** Where files are kept in memory and programs can be run, so that it is not the disk that is measured. */
function memoryDirectory(): string | undefined {
  try {
    const probe = mkdtempSync('/dev/shm/toolcrew-bench-');
    writeFileSync(join(probe, 'run'), '#!/bin/sh\nexit 0\n', { mode: 0o700 });
    const { failed } = execaSync(join(probe, 'run'), { reject: false });
    rmSync(probe, { recursive: true });
    return failed ? undefined : '/dev/shm';
  } catch {
    return undefined;
  }
}

// With roots of its own to load, each start of Node takes three times as long; nothing here leaves the machine.
delete process.env.NODE_EXTRA_CA_CERTS;
process.env.TMPDIR ??= memoryDirectory() ?? tmpdir();
const place = process.env.TMPDIR === '/dev/shm' ? 'in memory (/dev/shm)' : `in ${process.env.TMPDIR}`;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in BENCHMARKS));
if (unknown.length > 0) throw new Error(`expected ${Object.keys(BENCHMARKS).join(', ')}, got ${unknown.join(', ')}`);

const rows: Row[] = [];
for (const [name, run] of Object.entries(BENCHMARKS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  const made = await run();
  for (const row of made) process.stderr.write(`  ${row.what}: ${row.figure}, target ${row.target}\n`);
  rows.push(...made);
}
const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
const table = [
  line(['what', 'measured', 'floor in the same run', 'target', 'met']),
  line(['---', '---', '---', '---', '---']),
  ...rows.map((row) => line([row.what, row.figure, row.floor, row.target, row.met ? 'yes' : '**no**'])),
].join('\n');
process.stdout.write(`${table}\n`);
if (wanted.length === 0) {
  const machine = `Node ${process.versions.node}, Linux ${release()}, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`;
  const text = `# Results\n\nWritten by \`npm run bench\` on ${new Date().toISOString().slice(0, 10)}: ${machine}. Its files lie ${place}. Figures of one run; each stands beside a\nfloor measured in the same run, because machines differ and are noisy. Spreads are least–most around the median.\n\n${table}\n\n${FLEET_NOTES}`;
  writeFileSync(join(dirname(dirname(fileURLToPath(import.meta.url))), 'bench', 'results.md'), text);
}
if (rows.some((row) => !row.met)) process.exitCode = 1;
