// Plays the team server in an installed project: one tool, and a note of every call in calls.jsonl.

import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'team', version: '0.0.0' },
  }),
  'tools/list': () => ({
    tools: [{ name: 'TaskList', description: 'Lists the tasks.', inputSchema: { type: 'object', properties: {} } }],
  }),
  'tools/call': ({ name, arguments: given, _meta }) => {
    appendFileSync('calls.jsonl', `${JSON.stringify({ name, given, fromModel: _meta !== undefined })}\n`);
    return { content: [{ type: 'text', text: name === 'TaskList' ? 'NO-TASKS-YET' : '{}' }] };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const reply = answer === undefined ? { error: { code: -32601, message: method } } : { result: answer(params ?? {}) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`);
}
