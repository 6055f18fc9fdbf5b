// Connections to the collector, which can all be ended at once. Those of the exporter itself cannot be.

import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { BASE_CODES } from './rules/base-codes.ts';
import type { Environment } from './rules/environment.ts';
import { failure, messageOf } from './rules/errors.ts';

/** The exporter reads the same variables for its own agent. */
function readFileOf(env: Environment, what: string): Buffer | undefined {
  const key = [`OTEL_EXPORTER_OTLP_TRACES_${what}`, `OTEL_EXPORTER_OTLP_${what}`].find((name) => env[name]?.trim());
  if (key === undefined) return undefined;
  try {
    return readFileSync(env[key]?.trim() ?? '');
  } catch (error) {
    const expected = 'a file that can be read';
    throw failure(BASE_CODES.config_value, { key, expected, got: messageOf(error) }, { cause: error });
  }
}

/** Throws a ToolError where a file of certificates cannot be read. */
export function openAgents(env: Environment) {
  const files = {
    ca: readFileOf(env, 'CERTIFICATE'),
    cert: readFileOf(env, 'CLIENT_CERTIFICATE'),
    key: readFileOf(env, 'CLIENT_KEY'),
  };
  const closing = new AbortController();
  const agents: HttpAgent[] = [];
  const agentFor = (protocol: string): HttpAgent => {
    const agent =
      protocol === 'http:' ? new HttpAgent({ keepAlive: true }) : new HttpsAgent({ keepAlive: true, ...files });
    const connect = agent.createConnection.bind(agent);
    agent.createConnection = (...args) => {
      closing.signal.throwIfAborted();
      const socket = connect(...args);
      // Its request hears of an error a moment later than it can come.
      socket?.on('error', () => undefined);
      return socket;
    };
    agents.push(agent);
    return agent;
  };
  /** Without a code of its own an error is none after which the exporter tries again. */
  const close = () => {
    closing.abort();
    for (const { sockets, freeSockets } of agents)
      for (const socket of [...Object.values(sockets), ...Object.values(freeSockets)].flat())
        socket?.destroy(new Error('the process ends'));
  };
  return { agentFor, close };
}
