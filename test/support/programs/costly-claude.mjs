// A host that does nothing but claim its first task, and costs 0.60 dollars a turn.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

if (process.argv.includes('--version')) {
  process.stdout.write('2.1.331 (Claude Code)\n');
  process.exit(0);
}

const print = (row) => process.stdout.write(`${JSON.stringify(row)}\n`);
const team = (...words) =>
  execFileSync(join(process.env.HOME ?? '', 'bin', 'tool'), ['team', ...words], { encoding: 'utf8' });

print({ type: 'system', subtype: 'init', session_id: 's' });
let turns = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const [, id = ''] = /task (\d+) \\"/.exec(line) ?? [];
  turns += 1;
  if (turns === 1)
    print({ type: 'assistant', message: { id: 'm', content: team('task', 'update', id, 'in_progress') } });
  const usage = { input_tokens: 100, output_tokens: 10 };
  print({ type: 'result', subtype: 'success', is_error: false, result: 'no', total_cost_usd: 0.6 * turns, usage });
}
