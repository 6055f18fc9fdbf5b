// Certificate authorities that people add: one file serves the API and git.

import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rootCertificates } from 'node:tls';
import type { Environment } from '../../base/rules/environment.ts';
import { failure, messageOf } from '../../base/rules/errors.ts';
import { keptSetting } from '../../git/person-settings.ts';
import { GITHUB_CODES } from '../rules/codes/github-codes.ts';

export type AuthorityFile = {
  /** `tracker.ca_file` or the environment variable. */
  readonly name: string;
  readonly path: string;
  readonly text: string;
};

/** The system's own bundle, as Debian, Red Hat, SUSE and Alpine or macOS have it. */
const SYSTEM = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

const VARIABLE = 'NODE_EXTRA_CA_CERTS';
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function readOne(name: string, path: string): AuthorityFile {
  const refuse = (why: string, cause?: unknown) =>
    failure(GITHUB_CODES.certificate_file_invalid, { name, path, why }, { cause });
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw refuse(`it cannot be read (${messageOf(error)})`, error);
  }
  const found = text.match(CERTIFICATE) ?? [];
  if (found.length === 0) throw refuse('it holds none');
  for (const [index, certificate] of found.entries()) {
    try {
      new X509Certificate(certificate);
    } catch (error) {
      throw refuse(`its certificate ${index + 1} is damaged`, error);
    }
  }
  return { name, path, text };
}

/** The files that the setting and the environment name. Throws when one is missing or holds no certificate. */
export function readAuthorities(caFile: string | null, env: Environment): AuthorityFile[] {
  return [
    ...(caFile === null ? [] : [readOne('tracker.ca_file', caFile)]),
    ...(env[VARIABLE] ? [readOne(VARIABLE, resolve(env[VARIABLE]))] : []),
  ];
}

/** What a client of this process is given: Node reads the variable's file by itself, unless it is given a list. */
export function apiAuthorities(files: readonly AuthorityFile[]): string[] {
  return files.every(({ name }) => name === VARIABLE) ? [] : files.map(({ text }) => text);
}

function textAt(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** The variables that name the authorities of git's two ends, each with the person's setting that it outranks. */
const FOR_GIT = [
  { variable: 'GIT_SSL_CAINFO', setting: 'sslCAInfo', file: 'authorities.pem' },
  // Of a proxy that is spoken to over TLS. git-lfs knows the other one alone, and takes it for the proxy as well.
  { variable: 'GIT_PROXY_SSL_CAINFO', setting: 'proxySSLCAInfo', file: 'proxy-authorities.pem' },
] as const;

/**
 * Writes bundles for git into a directory, for the service and the proxy, and gives the environment that names them. In each:
 * Node's authorities, the system's, the person's own of git for this address, and the files. A variable that is set stays.
 */
export async function authorityForGit(
  files: readonly AuthorityFile[],
  directory: string,
  url: string,
  env: Environment,
): Promise<Readonly<Record<string, string>>> {
  if (files.length === 0) return {};
  const system = [env.SSL_CERT_FILE ?? '', ...SYSTEM].find((path) => path !== '' && existsSync(path)) ?? '';
  const given: Record<string, string> = {};
  for (const { variable, setting, file } of FOR_GIT) {
    if (env[variable]) continue;
    const own = await keptSetting(setting, url, env);
    const texts = [...rootCertificates, ...[system, own ?? ''].map(textAt), ...files.map(({ text }) => text)];
    const path = join(directory, file);
    writeFileSync(`${path}.new`, `${texts.map((text) => text.trim()).join('\n')}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    given[variable] = path;
  }
  return given;
}
