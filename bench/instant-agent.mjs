// A teammate that takes no time: does its one task, whatever it is, by writing the file that it is told, and says so over MCP.
// usage: node instant-agent.mjs SERVER FILES; FILES: by the teammate's name the file it writes, JSON

import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

const [server, files] = process.argv.slice(2);
const child = spawn(process.execPath, [server], { stdio: ['pipe', 'pipe', 'inherit'] });
const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
let last = 0;

const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

async function ask(method, params) {
  last += 1;
  send({ id: last, method, params });
  for (;;) {
    const { value, done } = await answers.next();
    if (done) throw new Error(`the team server ended before it answered ${method}`);
    const { id, result, error } = JSON.parse(value);
    if (id !== last) continue;
    if (error !== undefined || result.isError === true) throw new Error(JSON.stringify(error ?? result));
    return result;
  }
}

const call = async (name, input) => {
  const { content } = await ask('tools/call', { name, arguments: input });
  return JSON.parse(content[0].text);
};

await ask('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
});
send({ method: 'notifications/initialized' });
const me = process.env.TOOL_TEAMMATE;
const { tasks } = await call('TaskList', {});
const mine = tasks.find(({ owner, status }) => owner === me && status === 'pending');
if (mine !== undefined) {
  const { taskId } = mine;
  await call('TaskUpdate', { taskId, status: 'in_progress' });
  const path = JSON.parse(files)[me];
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'x\n');
  await call('TaskUpdate', { taskId, status: 'completed', result: 'done' });
}
child.stdin.end();
