// The proxy that the environment names for an address, for the API and git. For git, `http.proxy` of the person's settings outranks it.

import { BlockList, isIP } from 'node:net';
import { BASE_CODES } from './rules/base-codes.ts';
import type { Environment } from './rules/environment.ts';
import { failure } from './rules/errors.ts';

type Variable = { readonly name: string; readonly value: string };

export type Proxy = {
  /** The address, without user and password. */
  readonly origin: string;
  /** The header for the proxy: for no line that people read. */
  readonly authorization: string | undefined;
  /** `host:port`. */
  readonly host: string;
  /** The environment variable that names it. */
  readonly variable: string;
};

const HTTP = ['http_proxy', 'HTTP_PROXY'];
const ALL = ['all_proxy', 'ALL_PROXY'];
const NAMES = { 'http:': [...HTTP, ...ALL], 'https:': ['https_proxy', 'HTTPS_PROXY', ...HTTP, ...ALL] } as const;

/** An empty variable counts as unset, as curl has it. */
function firstSet(env: Environment, names: readonly string[]): Variable | undefined {
  return names.flatMap((name) => (env[name] ? [{ name, value: env[name] }] : []))[0];
}

/** The variable that applies to an address of this scheme. */
export function proxyVariable(scheme: 'http:' | 'https:', env: Environment): Variable | undefined {
  return firstSet(env, NAMES[scheme]);
}

function isInside(address: string, network: string): boolean {
  const [base = '', bits = ''] = network.split('/');
  const family = isIP(base);
  if (family === 0 || family !== isIP(address) || !/^\d{1,3}$/.test(bits)) return false;
  const kind = family === 6 ? 'ipv6' : 'ipv4';
  if (Number(bits) > (family === 6 ? 128 : 32)) return false;
  const list = new BlockList();
  list.addSubnet(base, Number(bits), kind);
  return list.check(address, kind);
}

function excluded(env: Environment): readonly string[] {
  return (firstSet(env, ['no_proxy', 'NO_PROXY'])?.value ?? '').split(/[,\s]+/).filter((one) => one !== '');
}

/** Without the brackets of an IPv6 address. */
function bareHost({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/^\[|\]$/g, '');
}

/** Whether NO_PROXY names the host: its name, a domain above it, its network, or `*`; each with or without a port. */
function isExcluded(url: URL, env: Environment): boolean {
  const host = bareHost(url);
  const used = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return excluded(env).some((entry) => {
    if (entry === '*' || isInside(host, entry)) return true;
    const [, named = entry, onPort] = /^([^:]+|\[.+\]):(\d+)$/.exec(entry) ?? [];
    const name = named
      .toLowerCase()
      .replace(/^\*?\./, '')
      .replace(/^\[|\]$/g, '');
    return (onPort === undefined || onPort === used) && (host === name || host.endsWith(`.${name}`));
  });
}

/**
 * NO_PROXY as curl reads it, for git on its way to an address; undefined: it may stay as it is. curl knows no `*.domain`
 * and no port, so the host is named as well where NO_PROXY takes it out.
 */
export function noProxyForGit(address: string, env: Environment): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (!isExcluded(url, env)) return undefined;
  // curl takes `*` for all hosts only where nothing stands beside it.
  const entries = excluded(env);
  return entries.includes('*') ? '*' : [...entries, bareHost(url)].join(',');
}

/** A percent sign that people forgot to write as %25 stays one. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

function basic({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`;
}

/** undefined: straight to the address. Throws when a variable names a proxy that the API cannot use. */
export function proxyFor(address: string, env: Environment): Proxy | undefined {
  const url = new URL(address);
  const variable = proxyVariable(url.protocol === 'https:' ? 'https:' : 'http:', env);
  if (variable === undefined || isExcluded(url, env)) return undefined;
  const { name, value } = variable;
  const written = value.includes('://') ? value : `http://${value}`;
  const refuse = (got: string) => failure(BASE_CODES.proxy_invalid, { variable: name, got, host: url.hostname });
  // The value may hold a password: no message repeats it.
  if (!URL.canParse(written)) throw refuse('text that is no address');
  const proxy = new URL(written);
  if (proxy.protocol !== 'http:' && proxy.protocol !== 'https:') throw refuse(`one of the kind ${proxy.protocol}//`);
  if (proxy.hostname === '') throw refuse('an address without a host');
  const port = proxy.port === '' ? (proxy.protocol === 'https:' ? '443' : '80') : proxy.port;
  return { origin: proxy.origin, authorization: basic(proxy), host: `${proxy.hostname}:${port}`, variable: name };
}
