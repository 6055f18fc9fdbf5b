// A host program without a model: it speaks the headless protocol of Claude Code and says what its script tells it to.
// usage: node host.mjs SCRIPT [the host's own arguments]; what reaches it is noted in SCRIPT.seen, one JSON object a line.

import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [script, ...args] = process.argv.slice(2);
const { turns = [], start = [], session = 'session-1', atEnd = 'exit' } = JSON.parse(readFileSync(script, 'utf8'));
const note = (what) => appendFileSync(`${script}.seen`, `${JSON.stringify(what)}\n`);

note({ args, env: process.env, cwd: process.cwd() });
const resumed = args.includes('--resume') ? args[args.indexOf('--resume') + 1] : undefined;
const projects = join(process.env.HOME, '.claude', 'projects', process.cwd().replaceAll('/', '-'));
const file = join(projects, `${resumed ?? session}.jsonl`);

/** A step is a line to print: an event, or text as it stands; or what ends the program. */
function take(step) {
  if (typeof step === 'string') process.stdout.write(`${step}\n`);
  else if ('exit' in step) process.exit(step.exit);
  else if ('stderr' in step) process.stderr.write(`${step.stderr}\n`);
  else process.stdout.write(`${JSON.stringify(step)}\n`);
}

for (const step of start) take(step);

if (resumed !== undefined && !existsSync(file)) {
  take({ type: 'result', subtype: 'error_during_execution', is_error: true, errors: [`No conversation ${resumed}`] });
  process.exit(1);
}

let turn = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { message } = JSON.parse(line);
  note({ message });
  mkdirSync(projects, { recursive: true });
  appendFileSync(file, `${line}\n`);
  take({ type: 'system', subtype: 'init', session_id: resumed ?? session, cwd: process.cwd() });
  for (const step of turns[turn] ?? []) take(step);
  turn += 1;
}

note({ ended: true });
if (atEnd === 'stay') {
  // What a team that nobody ended does to the host.
  writeFileSync(`${script}.stays`, '');
  setInterval(() => undefined, 1_000);
}
