// The daemon as it is, ended by SIGKILL at one moment of one effect. KILL_AT_FILE names a file, which is read at each record:
// `<effect> <beginning of its key> <moment> <issue>`, or `record <type> recorded <issue>` for the first record of that type with or
// after the command of an operator. While it is empty, nothing ends the daemon.
// usage: killed-daemon.ts serve WORKFLOW.md

import { readFileSync } from 'node:fs';
import { createDaemon } from '../../../src/compose/daemon.ts';
import type { Journal } from '../../../src/daemon/ports.ts';
import type { JournalRecord } from '../../../src/daemon/rules/record.ts';

const { KILL_AT_FILE = '' } = process.env;

let isSteered = false;

function killAt(): readonly string[] {
  return readFileSync(KILL_AT_FILE, 'utf8').split(' ');
}

/** `announced`: the effect is recorded to begin · `performed`: it is done, no record says so · `recorded`: one does. */
function isMoment(record: JournalRecord): boolean {
  isSteered ||= record.type === 'steered';
  const [effect, key = '', moment, issue] = killAt();
  if (!('issue' in record) || record.issue !== Number(issue)) return false;
  if (effect === 'record') return isSteered && record.type === key;
  if (!('effect' in record) || record.effect !== effect || !record.key.startsWith(key)) return false;
  return record.type === (moment === 'announced' ? 'effect_started' : 'effect_finished');
}

function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  // A killed process returns from nothing.
  return new Promise(() => undefined);
}

const daemon = await createDaemon({
  workflowPath: process.argv[3] ?? '',
  env: process.env,
  logFormat: 'text',
  once: false,
  ended: new AbortController().signal,
  write: (line) => process.stderr.write(line),
  wrapJournal: (journal): Journal => ({
    get state() {
      return journal.state;
    },
    append: async (record) => {
      if (!isMoment(record)) return journal.append(record);
      if (killAt()[2] !== 'performed') await journal.append(record);
      return die();
    },
    close: () => journal.close(),
  }),
});
await daemon.run();
