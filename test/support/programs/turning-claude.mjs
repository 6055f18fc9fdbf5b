// A host that says what it is told, one turn after the other, commits in the second, and waits in the first until a file is there.
// usage: node turning-claude.mjs DIRECTORY …; it writes DIRECTORY/turn-<n>, and waits for DIRECTORY/go

import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

if (process.argv.includes('--version')) {
  process.stdout.write('2.1.331 (Claude Code)\n');
  process.exit(0);
}

const directory = process.argv[2];
const print = (row) => process.stdout.write(`${JSON.stringify(row)}\n`);
print({ type: 'system', subtype: 'init', session_id: 'the-session' });
let turns = 0;
for await (const line of createInterface({ input: process.stdin })) {
  turns += 1;
  writeFileSync(join(directory, `turn-${turns}`), line);
  while (turns === 1 && !existsSync(join(directory, 'go'))) await delay(50);
  if (turns === 2) {
    writeFileSync('work.txt', 'work');
    execFileSync('git', ['add', '-A']);
    execFileSync('git', ['commit', '-qm', 'Work']);
  }
  const usage = { input_tokens: 100, output_tokens: 10 };
  print({ type: 'result', subtype: 'success', is_error: false, result: 'so', total_cost_usd: 0.5 * turns, usage });
}
