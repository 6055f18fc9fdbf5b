// A team's log: how fast 16 processes write to it, and whether one of 8 that race for a claim gets it.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FileTeamLog } from '../src/team/log/team-log.ts';
import { programFile } from '../test/support/compiled.ts';
import { beginLog, runWriters, Writer } from '../test/support/team-writers.ts';
import { median, type Row, ratioOf, ratiosOf, spread, withCleanup } from './figures.ts';

const WRITERS = 16;
const EACH = 500;
const RECORDS = WRITERS * EACH;
const RACERS = 8;
const RACES = 100;

/** Starts the writers in a new log; gives records a second, their processes' starts included, and how many were lost. */
async function writing(program: string, directory: string, what: string): Promise<{ speed: number; lost: number }> {
  mkdirSync(directory);
  const isBare = what.startsWith('bare');
  if (!isBare) await beginLog(directory);
  const start = performance.now();
  await runWriters(
    program,
    Array.from({ length: WRITERS }, (_, index) => [what, directory, `w${index}`, String(EACH)]),
  );
  const speed = RECORDS / ((performance.now() - start) / 1000);
  if (isBare) return { speed, lost: 0 };
  const log = new FileTeamLog({ directory, now: Date.now, create: false });
  const lost = RECORDS - log.state.tasks.size + log.tornLines;
  await log.close();
  return { speed, lost };
}

async function row(program: string, place: string, kind: '' | '-flushed', target: number): Promise<Row> {
  const measured: number[] = [];
  const floor: number[] = [];
  let lost = 0;
  // By turns, so that what else the machine does meets both.
  for (let round = 0; round < 5; round++) {
    floor.push((await writing(program, join(place, `bare${kind}-${round}`), `bare${kind}`)).speed);
    const one = await writing(program, join(place, `tasks${kind}-${round}`), `tasks${kind}`);
    measured.push(one.speed);
    lost += one.lost;
  }
  const ratio = median(ratiosOf(measured, floor));
  return {
    what: `16 processes write 500 records each to one team's log on disk, ${kind === '' ? 'not flushed' : 'each flushed'}`,
    figure: `${ratioOf(ratio, spread(measured, '/s'))}, ${lost} lost or torn`,
    floor: `${spread(floor, '/s')}: the same writes without a log that is read and folded`,
    target: `≥ ${target} ×, 0 lost`,
    met: ratio >= target && lost === 0,
  };
}

async function races(program: string, directory: string): Promise<Row> {
  mkdirSync(directory);
  const names = Array.from({ length: RACERS }, (_, index) => `m${index}`);
  await beginLog(directory, names, RACES);
  const racers = names.map((name) => new Writer(program, ['claim', directory, name]));
  await Promise.all(racers.map((racer) => racer.until(1)));
  let exactlyOne = 0;
  for (let race = 1; race <= RACES; race++) {
    for (const racer of racers) racer.tell(String(race));
    await Promise.all(racers.map((racer) => racer.until(1 + race)));
    if (racers.filter(({ lines }) => lines[race] === `${race} won`).length === 1) exactlyOne += 1;
  }
  await Promise.all(racers.map((racer) => racer.end()));
  return {
    what: `8 processes claim each of ${RACES} tasks at once`,
    figure: `one winner in ${exactlyOne} of ${RACES}`,
    floor: '–',
    target: 'exactly one each',
    met: exactlyOne === RACES,
  };
}

export async function teamLog(): Promise<Row[]> {
  return withCleanup(async (t) => {
    const program = programFile('team-writer');
    // A flush of a file in memory flushes nothing: these lie on the disk.
    const place = mkdtempSync('/var/tmp/toolcrew-bench-');
    t.after(() => rmSync(place, { recursive: true, force: true }));
    return [
      await row(program, place, '', 0.3),
      await row(program, place, '-flushed', 0.33),
      await races(program, join(place, 'races')),
    ];
  });
}
