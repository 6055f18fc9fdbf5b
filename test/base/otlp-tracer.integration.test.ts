// The end of a process with traces: nothing of the exporter holds it after the close.

import assert from 'node:assert/strict';
import test from 'node:test';
import { runProgram } from '../../src/base/processes/program.ts';

/** Both far above the bound of a test: what waits for one of them does not end in it. */
const [TIMEOUT_MS, RETRY_AFTER_S] = ['3600000', '1800'];

/** A process with its own collector, which holds nothing; the close's time is over as soon as `until` is. */
const program = (answer: string, until: string) => `
import { createServer } from 'node:http';
import { openTracer } from './src/base/otlp-tracer.ts';
let asked;
const isAsked = new Promise((resolve) => (asked = resolve));
const server = createServer((request, response) => { asked(); request.resume(); ${answer} });
server.on('connection', (socket) => socket.unref());
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
server.unref();
process.env.OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:' + server.address().port;
const clock = { now: Date.now, elapsed: () => performance.now(), sleep: async () => { await isAsked; ${until} } };
let isClosed = false;
const log = { log: (_, __, { of }) => console.log(isClosed ? 'late' : 'said', of.code) };
const tracer = await openTracer(process.env, clock, log, 'tool worker');
tracer.start('attempt', {}).end();
const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
await tracer.close();
isClosed = true;
console.log('closed', timers());
`;

async function endOf(answer: string, until = ''): Promise<readonly [number | null, string]> {
  const { exitCode, stdout } = await runProgram(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', program(answer, until)],
    { cwd: process.cwd(), env: { ...process.env, OTEL_EXPORTER_OTLP_TIMEOUT: TIMEOUT_MS }, timeoutMs: 60_000 },
  );
  return [exitCode, stdout];
}

test('a collector that gives no answer does not hold the process', async () => {
  assert.deepEqual(await endOf(''), [0, 'said traces_not_taken\nclosed 0\n']);
});

test('a request that waits to be sent again does not hold the process', async () => {
  const answer = `response.writeHead(503, { 'retry-after': '${RETRY_AFTER_S}' }).end();`;
  // That of the batch, and that of the retry.
  const until = 'while (timers() < 2) await new Promise((resolve) => setImmediate(resolve));';
  assert.deepEqual(await endOf(answer, until), [0, 'said traces_not_taken\nclosed 0\n']);
});
