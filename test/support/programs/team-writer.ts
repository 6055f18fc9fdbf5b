// Writes to a team's log as it is told. Bundled into one file where its start counts.
// usage: team-writer <what> <directory> <name> [<count> [<max bytes>]]
//   tasks, tasks-flushed  adds so many tasks
//   bare, bare-flushed    nothing but the system's writes of the same records: the floor of the two above
//   tell                  adds tasks, flushed, and says each when it is in the log; ends only with its count
//   tell-some             the same until it is refused, and says why
//   claim                 claims the task of each number that it reads, and says whether it got it
//   create                creates the team of that name below the directory, and says whether it did

import { closeSync, constants, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../src/base/rules/errors.ts';
import { FileTeamLog } from '../../../src/team/log/team-log.ts';
import { FileTeams } from '../../../src/team/log/teams.ts';
import type { TeamRecord } from '../../../src/team/rules/log/record.ts';

const [what = '', directory = '', name = '', countWord = '0', maxBytes] = process.argv.slice(2);
const count = Number(countWord);
const limit = maxBytes === undefined ? {} : { maxBytes: Number(maxBytes) };

/** Only who is told something by line loads what reads lines: the others' start is measured. */
async function lines(): Promise<AsyncIterable<string>> {
  const { createInterface } = await import('node:readline');
  return createInterface({ input: process.stdin });
}

function say(words: string): void {
  writeSync(1, `${words}\n`);
}

function task(n: number): TeamRecord {
  return {
    type: 'task_created',
    subject: `${name}:${n}`,
    description: 'Takes a name and a password, and answers with a token',
    owner: null,
    files: ['src/api/login.ts'],
    blocked_by: [],
    by: 'team-lead',
  };
}

function open(): FileTeamLog {
  return new FileTeamLog({ directory, now: Date.now, create: false, ...limit });
}

async function write(isFlushed: boolean, isTold: boolean): Promise<void> {
  const log = open();
  for (let n = 0; n < count; n++) {
    const { refusal } = await log.append(task(n), { flush: isFlushed });
    if (refusal !== null) throw new Error(refusal);
    if (isTold) say(`${name}:${n}`);
  }
  await log.close();
}

function writeBare(isFlushed: boolean): void {
  const fd = openSync(join(directory, 'log.jsonl'), constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
  for (let n = 0; n < count; n++) {
    writeSync(fd, `\n${JSON.stringify({ ...task(n), v: 1, id: `${name}.${n}`, at: Date.now() })}\n`);
    if (isFlushed) fdatasyncSync(fd);
  }
  closeSync(fd);
}

async function claim(): Promise<void> {
  const log = open();
  say('ready');
  for await (const line of await lines()) {
    const record = {
      type: 'task_updated',
      task: line,
      status: 'in_progress',
      result: null,
      by: name,
      epoch: 1,
    } as const;
    const { refusal } = await log.append(record, { flush: false });
    say(`${line} ${refusal ?? 'won'}`);
  }
  await log.close();
}

async function create(): Promise<void> {
  say('ready');
  for await (const team of await lines()) {
    const log = new FileTeams({ root: directory, now: Date.now }).begin(team);
    const { refusal } = await log.append({
      type: 'created',
      team,
      phase: 'run',
      pattern: null,
      roles: [],
      subject: name,
      session: name,
      key_hash: null,
      approval: true,
      base: null,
    });
    say(`${refusal ?? 'won'}: led by ${log.state.lead.session}`);
    await log.close();
  }
}

switch (what) {
  case 'tasks':
  case 'tasks-flushed':
    await write(what === 'tasks-flushed', false);
    break;
  case 'tell':
    await write(true, true);
    break;
  case 'tell-some':
    await write(true, true).catch((error: unknown) => say(messageOf(error)));
    break;
  case 'bare':
  case 'bare-flushed':
    writeBare(what === 'bare-flushed');
    break;
  case 'claim':
    await claim();
    break;
  case 'create':
    await create();
    break;
  default:
    throw new Error(`expected what to write, got ${what}`);
}
