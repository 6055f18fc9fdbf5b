// What package managers of Node write of a project: its manifest, its lock file, its modules, and what they pack.

import { readOptions } from '../options.ts';
import type { Call } from '../reader.ts';
import type { Shell } from '../state.ts';
import { concat, isText } from '../values.ts';
import { fieldsOf } from './scripts.ts';
import { at, packageAt, workspacesOf } from './workspaces.ts';

/** The files in which each manager keeps what a project needs. */
const LOCKS: Readonly<Record<string, readonly string[]>> = {
  npm: ['package-lock.json'],
  pnpm: ['pnpm-lock.yaml'],
  yarn: ['yarn.lock'],
  bun: ['bun.lock', 'bun.lockb'],
};

/** What is packed is named after the project. */
export function pack(call: Call, isTried: boolean, inside: Shell): undefined {
  const options = readOptions(call.args, { short: ['o', 'f'], long: ['pack-destination=', 'out=', 'filename='] });
  const named = options.all('pack-destination', 'out', 'filename', 'o', 'f');
  if (isTried) return undefined;
  const directories = named.length === 0 ? ['.'] : named;
  const isOwn =
    options.operands.length === 1 && !options.has('out', 'filename', 'o', 'f', 'w', 'workspace', 'workspaces');
  const packed = isOwn ? packedName(call, inside) : null;
  for (const directory of directories) {
    if (packed === null) call.reader.write(inside, directory, `${call.name} pack`, { tree: true });
    else call.reader.write(inside, concat(concat(directory, '/'), packed), `${call.name} pack`);
  }
  return undefined;
}

/** The name of what npm and pnpm pack; null when the manifest does not say. */
function packedName({ name, reader }: Call, inside: Shell): string | null {
  const [place, ...others] = reader.places(inside, 'package.json') ?? [];
  if (place === undefined || others.length > 0 || (name !== 'npm' && name !== 'pnpm')) return null;
  if (reader.kindAt(inside, 'package.json') !== 'file') return null;
  const { name: title, version } = fieldsOf(reader.context.readText?.(place) ?? '');
  return typeof title === 'string' && typeof version === 'string'
    ? `${title.replace(/^@/, '').replaceAll('/', '-')}-${version}.tgz`
    : null;
}

type Change = {
  readonly isChanged: boolean;
  readonly isLocked: boolean;
  /** No package above the directory is meant. */
  readonly isHere: boolean;
};

/** The package that a shell is in, and where those that hold together with it are listed. */
function placesOf(call: Call, inside: Shell, isHere: boolean): { readonly own: Shell; readonly whole: Shell } {
  const directory = isHere ? null : packageAt(call, inside);
  const own = directory === null ? inside : at(directory, inside);
  const root = directory === null ? undefined : workspacesOf(call, directory)?.root;
  return { own, whole: root === undefined || root === directory ? own : at(root, inside) };
}

/** A package of several that hold together is locked, and has its modules, where they are listed. */
export function writeManifests(call: Call, shells: readonly Shell[], { isChanged, isLocked, isHere }: Change): void {
  const { reader, name } = call;
  const by = `${name} ${call.args.find(isText) ?? ''}`.trim();
  // all are looked for before one is written
  const places = shells.map((inside) => placesOf(call, inside, isHere));
  for (const { own } of isChanged ? places : []) reader.write(own, 'package.json', by);
  const wholes = distinct(places.map(({ whole }) => whole));
  for (const whole of isLocked ? wholes : [])
    for (const lock of LOCKS[name] ?? []) reader.write(whole, lock, by, { renews: !isChanged });
  for (const one of distinct(places.flatMap(({ own, whole }) => [own, whole])))
    reader.write(one, 'node_modules', by, { tree: true, entry: true });
}

/** One shell for each directory. */
function distinct(shells: readonly Shell[]): readonly Shell[] {
  return [...new Map(shells.map((shell) => [shell.cwds?.join('\0'), shell])).values()];
}
