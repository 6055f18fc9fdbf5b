// Private key of a GitHub App: from a variable or a file, checked before anything is asked.

import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Environment } from '../../base/rules/environment.ts';
import { failure, messageOf } from '../../base/rules/errors.ts';
import { CONFIG_CODES } from '../rules/codes/config-codes.ts';
import { GITHUB_CODES } from '../rules/codes/github-codes.ts';
import type { AppSettings } from '../rules/workflow.ts';
import type { TakenTokens } from './credential.ts';

const KEY = 'tracker.private_key';

export type AppKey = {
  /** PEM. Never show, log or write it. */
  readonly pem: string;
  /** The file or variable that holds it, for people. */
  readonly source: string;
  /** Texts by which parts of it are known, for what redacts them. */
  readonly secrets: readonly string[];
};

/** Lines of a key shorter than this tell nothing, and may stand in other texts. */
const LEAST_SECRET = 32;

function readText({ key }: AppSettings, tokens: TakenTokens): string {
  if (key.kind === 'variable') {
    const value = tokens.get(key.name);
    if (value === undefined) throw failure(CONFIG_CODES.variable_unset, { key: KEY, variable: `$${key.name}` });
    return value;
  }
  try {
    return readFileSync(key.path, 'utf8');
  } catch (error) {
    throw failure(
      GITHUB_CODES.app_key_unreadable,
      { key: KEY, path: key.path, said: messageOf(error) },
      { cause: error },
    );
  }
}

/** Where a variable holds one line, newlines are written as \n. What quotes it stands in may have been kept. */
function pemOf(text: string): string {
  const inner = /^(["'])([\s\S]*)\1$/.exec(text.trim())?.[2] ?? text;
  return `${inner.replaceAll('\\n', '\n').replaceAll('\r', '').trim()}\n`;
}

/** All variables that hold the key, whatever the file names: hooks get none of them. */
export function variablesWithKey({ key }: AppSettings, env: Environment): readonly string[] {
  let text: string | undefined;
  try {
    text = key.kind === 'variable' ? env[key.name] : readFileSync(key.path, 'utf8');
  } catch {
    // The start says why.
  }
  const named = key.kind === 'variable' ? [key.name] : [];
  if (text === undefined || text.trim() === '') return named;
  const pem = pemOf(text);
  const same = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && pemOf(value) === pem ? [name] : [],
  );
  return [...new Set([...named, ...same])];
}

/** Throws a ToolError that names the key of the workflow file; none shows a part of the text. */
export function readAppKey(app: AppSettings, tokens: TakenTokens): AppKey {
  const source = app.key.kind === 'variable' ? `$${app.key.name}` : app.key.path;
  const text = readText(app, tokens);
  const pem = pemOf(text);
  const invalid = (got: string) => failure(GITHUB_CODES.app_key_invalid, { key: KEY, source, got });
  if (!/^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem))
    throw invalid(text.trim() === '' ? 'nothing' : 'a text that does not begin so');
  if (!/^-----BEGIN [A-Z ]*PRIVATE KEY-----\n/.test(pem)) throw invalid('one whose newlines are missing');
  let type: string | undefined;
  try {
    type = createPrivateKey(pem).asymmetricKeyType;
  } catch {
    throw invalid('one that is damaged');
  }
  if (type !== 'rsa') throw invalid(`a key of the type ${type ?? 'unknown'}`);
  const lines = pem.split('\n').filter((line) => line.length >= LEAST_SECRET && !line.startsWith('-----'));
  return { pem, source, secrets: [pem.trim(), ...lines] };
}
