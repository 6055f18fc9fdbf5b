// Agents in namespaces of their own (Linux): they see no process but theirs, and whatever they start ends with them;
// places that hold credentials are empty for them, places that would let them act outside of their attempt are read-only.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { runProgram } from '../base/processes/program.ts';
import { type Refusal, refusal } from '../base/rules/codes.ts';
import type { Environment } from '../base/rules/environment.ts';
import { failure, messageOf } from '../base/rules/errors.ts';
import { oneLine } from '../base/rules/text.ts';
import { AGENT_CODES } from './rules/agent-codes.ts';
import type { IsolationMode } from './rules/runtime.ts';

/** Paths and what an agent may do there. A writable path may lie in a read-only one. */
export type Bounds = {
  readonly readOnly: readonly string[];
  readonly hidden: readonly string[];
  /** Hidden as well: places that may come and go. */
  readonly others?: () => readonly string[];
  /**
   * Directories that are all that is seen in those around them, also of what comes there later. They are read-only. What is
   * hidden must not lie in them.
   */
  readonly alone?: readonly string[];
  /** Files that are read with another text, and cannot be changed. */
  readonly replaced?: readonly { readonly path: string; readonly text: string }[];
  /** A directory for what describes the bounds, where agents cannot write. */
  readonly tables: string;
};

/** A place that shows what is at another one, with all that is mounted there. */
export type Bind = { readonly source: string; readonly target: string };

/**
 * The first process of the namespaces: as their superuser it sets the mounts, has the command run in one more user
 * namespace as the caller's own user, and collects what is left behind. The kernel keeps from it every signal that it
 * does not catch, so it catches those that mean the end: one that comes before the command runs is not lost.
 * Arguments: uid, gid, then triples of `w|o|t|h|r`, a path and flags, `--`, the command. `t` names a table of mounts in
 * the form of fstab(5), all made by one program, which finds the paths before it that were opened (`o`) at descriptors
 * from 4 on; that leaves out what it finds mounted already, which must not be: then the place would stay open.
 */
const INIT = `set -e
trap 'exit 125' EXIT
asked=
trap 'asked=1' TERM INT HUP
uid=$1; gid=$2; fd=4; shift 2
while [ "$1" != "--" ]; do
  case "$1" in
    w) mount --bind "$2" "$2" ;;
    o) eval "exec $fd<\\"\\$2\\""; fd=$((fd + 1)) ;;
    t) fd=4
       said=$(LC_ALL=C mount --all --verbose --fstab "$2")
       case "$said" in *': already mounted'*) echo "$said" >&2; exit 1 ;; esac ;;
    h) if [ -d "$2" ]; then mount -t tmpfs -o ro,size=4k,mode=700 none "$2"; else mount --bind /dev/null "$2"; fi ;;
    r) mount --rbind "$2" "$2"; mount -o "remount,bind,ro$3" "$2" ;;
  esac
  shift 3
done
shift
exec 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-
set +e
trap - EXIT
[ -z "$asked" ] || exit 143
exec 4<&0
unshare --user --map-user="$uid" --map-group="$gid" -- "$@" <&4 4<&- &
child=$!
exec 4<&- </dev/null
while :; do
  wait $child
  code=$?
  kill -0 $child 2>/dev/null || exit $code
done`;

/** A shell has descriptors of one digit alone; those before are its input, its output and what the caller hands over. */
const FIRST_OPEN = 4;
const MAX_OPEN = 6;

/** `unshare` itself waits, deaf to the end signals; when it is killed, all that runs in the namespaces is. */
const NAMESPACES = ['--user', '--map-root-user', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];

/** In the state directory: the person's git settings that the daemon's own git keeps. A proxy's address may hold a password. */
export const GIT_SETTINGS = 'git-settings';
/** In the state directory: socket and key of the daemon's commands for operators. */
export const CONTROL_FILE = 'control.json';

/** Where hosting credentials of a person lie, and the sockets of what hands them out. */
export function credentialPlaces(env: Environment): string[] {
  const home = env.HOME ?? homedir();
  const config = env.XDG_CONFIG_HOME ?? join(home, '.config');
  return [
    env.GH_CONFIG_DIR ?? join(config, 'gh'),
    // Git's settings hold addresses and headers with tokens in them, and cannot be hidden piecewise.
    join(home, '.gitconfig'),
    join(config, 'git', 'config'),
    join(config, 'git', 'credentials'),
    join(config, 'hub'),
    join(config, 'glab-cli'),
    join(home, '.git-credentials'),
    join(home, '.netrc'),
    join(home, '.ssh'),
    join(home, '.gnupg'),
    join(env.DOCKER_CONFIG ?? join(home, '.docker'), 'config.json'),
    env.NPM_CONFIG_USERCONFIG ?? join(home, '.npmrc'),
    join(home, '.pypirc'),
    join(home, '.cargo', 'credentials'),
    join(home, '.cargo', 'credentials.toml'),
    // An agent whose model is served by a cloud logs in with what lies there.
    ...(env.CLAUDE_CODE_USE_BEDROCK === undefined ? [join(home, '.aws')] : []),
    ...(env.CLAUDE_CODE_USE_VERTEX === undefined ? [env.CLOUDSDK_CONFIG ?? join(config, 'gcloud')] : []),
    ...(env.SSH_AUTH_SOCK === undefined ? [] : [env.SSH_AUTH_SOCK]),
    // Service managers and container engines put the files of a service's secrets there.
    '/run/secrets',
    ...(env.CREDENTIALS_DIRECTORY === undefined ? [] : [env.CREDENTIALS_DIRECTORY]),
    // The session's bus leads to the keyring.
    env.XDG_RUNTIME_DIR ?? `/run/user/${process.getuid?.() ?? 0}`,
  ];
}

function realPaths(paths: readonly string[]): string[] {
  return [...new Set(paths.filter((path) => existsSync(path)).map((path) => realpathSync.native(path)))].filter(
    (path) => path !== '/',
  );
}

/** `flags`: what must be said again of the mount that a read-only path lies on, each after a comma. */
type RestrictedPath = { readonly kind: 'h' | 'r'; readonly path: string; readonly flags: string };

/** A file that stands in for another one. */
type FileReplacement = { readonly path: string; readonly by: string; readonly flags: string };

/** Where something is mounted, with its options. */
type MountPoints = ReadonlyMap<string, readonly string[]>;

function mountPoints(): MountPoints {
  const rows = readFileSync('/proc/self/mountinfo', 'latin1').split('\n');
  return new Map(
    rows.flatMap((row) => {
      const [, , , , point, options] = row.split(' ');
      if (point === undefined || options === undefined) return [];
      const path = point.replaceAll(/\\([0-7]{3})/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 8)),
      );
      return [[Buffer.from(path, 'latin1').toString(), options.split(',')] as const];
    }),
  );
}

/** What the kernel does not let a user namespace take from the mount that holds the path. */
function keptFlags(points: MountPoints, path: string): string {
  let at = path;
  while (!points.has(at) && at !== '/') at = dirname(at);
  const kept = (points.get(at) ?? []).filter((option) => /^no(suid|dev|exec)$/.test(option));
  return kept.map((flag) => `,${flag}`).join('');
}

function fstabPath(path: string): string {
  return path.replaceAll(/[ \t\r\n\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

function replacementLine({ path, by, flags }: FileReplacement): string {
  return `${fstabPath(by)} ${fstabPath(path)} none bind,ro${flags} 0 0\n`;
}

function fstabLine({ kind, path, flags }: RestrictedPath): string {
  const point = fstabPath(path);
  if (kind === 'r') return `${point} ${point} none rbind,ro${flags} 0 0\n`;
  return statSync(path).isDirectory()
    ? `toolcrew ${point} tmpfs ro,size=4k,mode=700 0 0\n`
    : `/dev/null ${point} none bind 0 0\n`;
}

/** Shows what is at an open path at its own place, where it stays as it is when the place around becomes read-only. */
function openLine(_: string, index: number): string {
  const path = `/proc/self/fd/${FIRST_OPEN + index}`;
  return `${path} ${path} none bind 0 0\n`;
}

/** @param index of the open path */
function aloneLines(path: string, index: number, tables: string, points: MountPoints): string {
  const around = dirname(path);
  const room = join(tables, `alone-${createHash('sha256').update(path).digest('hex').slice(0, 16)}`);
  mkdirSync(join(room, basename(path)), { recursive: true, mode: 0o700 });
  return [
    `${fstabPath(room)} ${fstabPath(around)} none bind,ro${keptFlags(points, room)} 0 0\n`,
    // By its number: with what was opened in it.
    `/proc/self/fd/${FIRST_OPEN + index} ${fstabPath(path)} none rbind,ro${keptFlags(points, path)} 0 0\n`,
  ].join('');
}

function bindLine({ source, target }: Bind): string {
  return `${fstabPath(source)} ${fstabPath(target)} none rbind 0 0\n`;
}

/** An empty place that is there for its source alone. */
function identityLine(identity: string, tables: string, points: MountPoints): string {
  let point = join(tables, 'room');
  while (points.has(point)) point += '-in';
  mkdirSync(point, { recursive: true, mode: 0o700 });
  return `${identity} ${fstabPath(realpathSync.native(point))} tmpfs ro,size=4k,mode=700 0 0\n`;
}

function inParts(paths: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(paths.length / MAX_OPEN);
  return Array.from({ length: count }, (_, part) => paths.slice(part * MAX_OPEN, (part + 1) * MAX_OPEN));
}

/** Writes a text where agents cannot change it. There are few: one serves every workspace. */
function writeTable(directory: string, text: string, ending: string): string {
  const path = join(directory, `${createHash('sha256').update(text).digest('hex').slice(0, 16)}.${ending}`);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return path;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** Without a PID namespace a process is known by its group and by a variable: one that leaves both is found by nobody. */
export function notIsolated(reason: string): Refusal {
  return refusal(AGENT_CODES.agents_not_isolated, { why: reason });
}

export class Isolation {
  readonly active: boolean;
  /** Why it is not active; empty when it is. */
  readonly reason: string;
  readonly #bounds: Bounds;

  private constructor(active: boolean, reason: string, bounds: Bounds) {
    this.active = active;
    this.reason = reason;
    this.#bounds = bounds;
  }

  /** Finds out whether this machine can do it, by doing it once. Throws when it is required and cannot be had. */
  static async probe(mode: IsolationMode, bounds: Bounds): Promise<Isolation> {
    if (mode === 'off') return new Isolation(false, 'tool.isolation is off', bounds);
    const reason = process.platform === 'linux' ? await tryOnce(new Isolation(true, '', bounds)) : 'it needs Linux';
    if (reason === undefined) return new Isolation(true, '', bounds);
    if (mode === 'required') throw failure(AGENT_CODES.isolation_required, { why: reason });
    return new Isolation(false, reason, bounds);
  }

  /** The same for one of many that see nothing of each other: of the places around, these alone are its own. */
  aloneIn(places: readonly string[]): Isolation {
    return new Isolation(this.active, this.reason, { ...this.#bounds, alone: places });
  }

  /** The same with further places that are empty inside. */
  hiding(places: readonly string[]): Isolation {
    return new Isolation(this.active, this.reason, { ...this.#bounds, hidden: [...this.#bounds.hidden, ...places] });
  }

  /**
   * The command line that runs a program isolated, or as it is when isolation is not active.
   * @param writable where it may write although the place around is read-only
   * @param identity owner of the namespaces, as the source of a mount
   * @param binds what is made of all that, one after the other
   */
  wrap(
    file: string,
    args: readonly string[],
    writable: readonly string[],
    { identity, binds = [] }: { readonly identity?: string; readonly binds?: readonly Bind[] } = {},
  ): readonly [string, readonly string[]] {
    if (!this.active) return [file, args];
    const kept = realPaths(writable);
    const secret = realPaths([...this.#bounds.hidden, ...(this.#bounds.others?.() ?? [])]);
    // What lies in a hidden place is gone with it.
    const hidden = secret.filter(
      (path) =>
        !kept.some((inside) => inside.startsWith(`${path}/`)) && !secret.some((outer) => path.startsWith(`${outer}/`)),
    );
    const points = mountPoints();
    const readOnly = realPaths(this.#bounds.readOnly);
    const restricted: RestrictedPath[] = [
      ...hidden.map((path) => ({ kind: 'h', path, flags: '' }) as const),
      ...readOnly.map((path) => ({ kind: 'r', path, flags: keptFlags(points, path) }) as const),
    ];
    const opened = kept.filter((path) => readOnly.some((outside) => path.startsWith(`${outside}/`)));
    // By its number an open path stands in a table that serves every workspace; one that is a mount would be left out.
    const byNumber = opened.filter((path) => !points.has(path));
    const { tables, replaced = [] } = this.#bounds;
    const alone = realPaths(this.#bounds.alone ?? []);
    const last = byNumber.splice(-(MAX_OPEN - alone.length));
    const replacements = replaced
      .filter(({ path }) => existsSync(path))
      .map(({ path, text }): FileReplacement => {
        const by = writeTable(tables, text, 'text');
        return { path: realpathSync.native(path), by, flags: keptFlags(points, by) };
      });
    const table = [
      ...last.map(openLine),
      ...restricted.filter(({ path }) => !points.has(path)).map(fstabLine),
      ...replacements.map(replacementLine),
      ...alone.map((path, index) => aloneLines(path, last.length + index, tables, points)),
      ...(identity === undefined ? [] : [identityLine(identity, tables, points)]),
    ];
    const mounts = [
      ...opened.filter((path) => points.has(path)).flatMap((path) => ['w', path, '']),
      ...inParts(byNumber).flatMap((part) => [
        ...part.flatMap((path) => ['o', path, '']),
        ...['t', writeTable(tables, part.map(openLine).join(''), 'fstab'), ''],
      ]),
      ...[...last, ...alone].flatMap((path) => ['o', path, '']),
      ...(table.length === 0 ? [] : ['t', writeTable(tables, table.join(''), 'fstab'), '']),
      ...restricted.filter(({ path }) => points.has(path)).flatMap(({ kind, path, flags }) => [kind, path, flags]),
      ...(binds.length === 0 ? [] : ['t', writeTable(tables, binds.map(bindLine).join(''), 'fstab'), '']),
    ];
    const ids = [String(process.getuid?.() ?? 0), String(process.getgid?.() ?? 0)];
    return ['unshare', [...NAMESPACES, '--', '/bin/sh', '-c', INIT, 'init', ...ids, ...mounts, '--', file, ...args]];
  }
}

/** undefined when it works. */
async function tryOnce(isolation: Isolation): Promise<string | undefined> {
  try {
    const [file, args] = isolation.wrap('/bin/sh', ['-c', 'exit 7'], []);
    const { exitCode, stderr } = await runProgram(file, args, {
      cwd: '/',
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
      timeoutMs: 10_000,
    });
    return exitCode === 7 ? undefined : oneLine(stderr, 160) || `exit code ${exitCode ?? 'none'}`;
  } catch (error) {
    return messageOf(error);
  }
}

/** What agents of a daemon must not change: its own files and sockets, other workspaces, the person's home, the program itself. */
export function boundsOf(options: {
  readonly stateDir: string;
  readonly workspaceRoot: string;
  readonly workflowPath: string;
  readonly packageRoot: string;
  readonly env: Environment;
  /** Holds the sockets, and the temporary files of every agent; null: none is made yet. */
  readonly runtimeDir: string | null;
  /** Further files that no agent may read. */
  readonly more?: readonly string[];
}): Bounds {
  const { stateDir, workspaceRoot, workflowPath, packageRoot, env, runtimeDir, more = [] } = options;
  const home = env.HOME ?? homedir();
  return {
    readOnly: [
      ...[stateDir, workspaceRoot, dirname(workflowPath), packageRoot, home],
      ...(runtimeDir === null ? [] : [runtimeDir]),
    ],
    hidden: [...credentialPlaces(env), join(stateDir, GIT_SETTINGS), join(stateDir, CONTROL_FILE), ...more],
    tables: join(stateDir, 'mounts'),
  };
}
