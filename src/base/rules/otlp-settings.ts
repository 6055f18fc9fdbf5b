// The variables of OpenTelemetry that say where traces go.

import { BASE_CODES } from './base-codes.ts';
import type { Environment } from './environment.ts';
import { failure } from './errors.ts';

const PREFIX = 'OTEL_EXPORTER_OTLP_';

/** Variables that no agent gets: the headers are secrets. */
export function otlpVariables(env: Environment): readonly string[] {
  return Object.keys(env).filter((name) => name.startsWith(PREFIX));
}

/** Values that must never be shown. */
export function otlpSecrets(env: Environment): readonly string[] {
  const written = otlpVariables(env).flatMap((name) => (name.endsWith('HEADERS') ? [env[name] ?? ''] : []));
  return written.flatMap((text) => [text, ...text.split(',').map((pair) => pair.slice(pair.indexOf('=') + 1).trim())]);
}

/** Throws a ToolError where the exporter would pass over a value, or take it for another. */
export function checkOtlpSettings(env: Environment): void {
  const wrong = (key: string, expected: string, got: string) =>
    failure(BASE_CODES.config_value, { key, expected, got });
  for (const name of [`${PREFIX}TRACES_ENDPOINT`, `${PREFIX}ENDPOINT`]) {
    const value = env[name] ?? '';
    // The address may hold a password: it is not repeated.
    if (value !== '' && !/^https?:\/\/[^/\s]+/i.test(value))
      throw wrong(name, 'an http(s) address, like http://localhost:4318', 'another text');
  }
  const name = [`${PREFIX}TRACES_PROTOCOL`, `${PREFIX}PROTOCOL`].find((one) => (env[one] ?? '') !== '');
  const protocol = name === undefined ? undefined : env[name];
  if (name !== undefined && protocol !== undefined && protocol !== 'http/json')
    throw wrong(name, 'http/json', protocol);
}
