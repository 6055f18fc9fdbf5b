// The write guard around shell calls of the host: policies, tickets and logs, in the directory of our shell (CLAUDE_CODE_SHELL).

import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFileAtomic } from '../base/files/atomic-write.ts';
import { lazyCrypto } from '../base/lazy-crypto.ts';
import type { Environment } from '../base/rules/environment.ts';
import { type GuardMechanism, mechanismOf } from './guard-mechanism.ts';
import { GUARD_PROGRAM } from './guard-program.ts';
import { hostSettingsFile } from './host-settings-file.ts';
import { placeLeases } from './lease-files.ts';
import { parseNotes } from './rules/notes.ts';
import type { CallerRules } from './rules/policy.ts';
import { endingsOf } from './rules/policy.ts';
import {
  canNameTicket,
  commandPattern,
  SHELL_VARIABLE,
  ticketScript,
  UNMARKED_TICKETS,
  waitingText,
  withTicket,
} from './rules/ticket.ts';
import type { LeaseFiles, ShellGuard, TicketOwner } from './shell-guard-port.ts';

export type ShellGuardOptions = {
  /** The checkout that the calls may write in. */
  readonly root: string;
  /** The checkout that holds the project's teams. */
  readonly main: string;
  readonly env: Environment;
  /** Of this platform, where none is given; null: it has none. */
  readonly mechanism?: GuardMechanism | null;
};

/** A log that has been quiet for so long goes, with its ticket. */
const KEPT_MS = 60 * 60_000;
const MAX_LIST_BYTES = 256 * 1024 * 1024;

function hashOf(text: string, length: number): string {
  return lazyCrypto().createHash('sha256').update(text).digest('hex').slice(0, length);
}

/** The directory of our shell; null: the host's calls do not pass it, or its program is not there. */
function guardHomeOf(env: Environment): string | null {
  const shell = env[SHELL_VARIABLE];
  if (shell === undefined || !canNameTicket(shell)) return null;
  try {
    accessSync(join(dirname(shell), GUARD_PROGRAM), constants.X_OK);
    return dirname(shell);
  } catch {
    return null;
  }
}

function projectDirectory(home: string, main: string): string {
  return join(home, 'projects', hashOf(main, 16));
}

/** Git's answers about the main checkout, as far as policies need them; they serve its worktrees too. */
type Facts = {
  readonly index: string;
  /** Time and size of the index when it was read. */
  readonly stamp: string;
  readonly directory: string | null;
  readonly programs: string;
  readonly endings: readonly string[];
};

function fileVersionOf(path: string): string {
  const status = statSync(path, { throwIfNoEntry: false });
  return status === undefined ? 'none' : `${status.mtimeMs} ${status.size}`;
}

function readFacts(path: string): Facts | undefined {
  try {
    // Nobody else writes this file.
    const facts: Facts = JSON.parse(readFileSync(path, 'utf8'));
    return facts.stamp === fileVersionOf(facts.index) && existsSync(facts.programs) ? facts : undefined;
  } catch {
    return undefined;
  }
}

async function askGit(root: string): Promise<Facts> {
  const { tryGit } = await import('../git/git.ts');
  const words = ['rev-parse', '--path-format=absolute', '--git-common-dir', '--git-path', 'index'];
  const [places, programs, files] = await Promise.all([
    tryGit(words, { cwd: root }),
    tryGit(['--exec-path'], { cwd: root }),
    tryGit(['ls-files', '-z'], { cwd: root, maxBytes: MAX_LIST_BYTES }),
  ]);
  const [directory = '', index = ''] = places.exitCode === 0 ? places.stdout.split('\n') : [];
  return {
    index,
    stamp: fileVersionOf(index),
    directory: directory === '' ? null : realpathSync(directory),
    programs: programs.stdout.trim(),
    endings: endingsOf(files.stdout.split('\0').filter((one) => one !== '' && !/[\t\n]/.test(one))),
  };
}

/** What of `.tool` programs of ours write for a team whose members work in worktrees, and where these lie. */
const TEAM_PLACES = ['teams', 'cache', 'state', 'worktrees'];

/** The checkout of a team whose caller works in a worktree below it, without what the team's own programs write there. */
function partsOf(main: string): readonly string[] {
  const all = readdirSync(main).filter((name) => name !== '.tool' && name !== '.git');
  const tool = existsSync(join(main, '.tool')) ? readdirSync(join(main, '.tool')) : [];
  const kept = tool.filter((name) => !TEAM_PLACES.includes(name)).map((name) => join('.tool', name));
  return [...all, ...kept].map((name) => join(main, name));
}

/** Where programs of ours keep locks, and moves of branches that are not finished. */
const OURS_IN_GIT = ['toolcrew', 'worktrees'];

/** A Git directory without what programs of ours keep there. */
function partsOfGit(directory: string): readonly string[] {
  return readdirSync(directory)
    .filter((name) => !OURS_IN_GIT.includes(name) && !/[\t\n]/.test(name))
    .map((name) => join(directory, name));
}

/** Other checkouts of the repository. */
function otherWorktrees(main: string, root: string, directory: string | null): readonly string[] {
  const list = directory === null ? undefined : join(directory, 'worktrees');
  const names = list !== undefined && existsSync(list) ? readdirSync(list) : [];
  const linked = names.flatMap((name) => {
    try {
      return dirname(readFileSync(join(directory ?? '', 'worktrees', name, 'gitdir'), 'utf8').trim());
    } catch {
      return [];
    }
  });
  const others = linked.filter((path) => path !== root && path !== main);
  return [...(root === main ? [] : partsOf(main)), ...others].filter((path) => !/[\t\n]/.test(path));
}

function nameOf(command: string, callId: string | null): string {
  return /^\w+$/.test(callId ?? '') ? String(callId) : hashOf(`${command}${Date.now()}`, 16);
}

/** Whether a file that waits for a call is too old. */
function isOver(path: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false });
  return status === undefined || Date.now() - status.mtimeMs > KEPT_MS;
}

/** Offsets up to which logs have been read, by their names. */
function readOffsets(directory: string): Record<string, number> {
  try {
    return JSON.parse(readFileSync(join(directory, 'read.json'), 'utf8'));
  } catch {
    return {};
  }
}

function newText(path: string, from: number): string {
  const bytes = readFileSync(path);
  return bytes.subarray(from, bytes.lastIndexOf(0x0a) + 1).toString('utf8');
}

/** null: shell calls of this host do not pass our shell. */
export function createShellGuard(options: ShellGuardOptions): ShellGuard | null {
  const { root, main, env, mechanism = mechanismOf(process.platform) } = options;
  const home = guardHomeOf(env);
  if (home === null || mechanism === null) return null;
  const project = projectDirectory(home, main);
  const program = join(home, GUARD_PROGRAM);
  const directoryOf = ({ team, caller }: TicketOwner): string => join(project, team, caller);
  let known: Facts | undefined;
  const factsOf = async (): Promise<Facts> => {
    if (known !== undefined && known.stamp === fileVersionOf(known.index)) return known;
    const path = join(project, 'facts.json');
    known = readFacts(path);
    if (known !== undefined) return known;
    known = await askGit(main);
    writeFileAtomic(path, JSON.stringify(known), 0o600);
    return known;
  };
  /** Writes the policy of a caller; gives its path. */
  const policyOf = async (caller: TicketOwner, rules: CallerRules, isWhole: boolean): Promise<string> => {
    const { writesHistory, ...own } = rules;
    const directory = directoryOf(caller);
    const leases = join(project, caller.team, 'leases');
    for (const one of [directory, leases]) mkdirSync(one, { recursive: true, mode: 0o700 });
    const { directory: repository, programs, endings } = await factsOf();
    const text = await mechanism.policyText({
      ...own,
      root,
      leases,
      elsewhere: [
        // Hooks of a process that is guarded whole write tickets.
        ...(isWhole ? [] : [{ owner: 'toolcrew', path: home }]),
        { owner: 'Claude Code', path: hostSettingsFile(env) },
        ...(root === main ? [] : [{ owner: 'git', path: join(root, '.git') }]),
        ...otherWorktrees(main, root, repository).map((path) => ({ owner: 'another worktree', path })),
      ],
      gitDirectories: repository === null || !writesHistory ? [] : isWhole ? partsOfGit(repository) : [repository],
      gitTrees: root === main || !writesHistory ? [] : [root],
      gitPrograms: [programs],
      endings,
    });
    const policy = join(directory, `policy-${hashOf(text, 16)}`);
    if (!existsSync(policy)) writeFileAtomic(policy, text, 0o600);
    return policy;
  };
  /** Writes a ticket; gives its path. */
  const place = async (caller: TicketOwner, rules: CallerRules, name: string): Promise<string> => {
    const policy = await policyOf(caller, rules, false);
    const ticket = join(directoryOf(caller), name);
    writeFileAtomic(ticket, ticketScript(program, policy, `${ticket}.log`, rules.writesHistory), 0o700);
    return ticket;
  };
  const waiting = join(home, UNMARKED_TICKETS);
  const waitingFile = (caller: TicketOwner, text: string) =>
    join(waiting, hashOf(`${directoryOf(caller)}\n${text}`, 16));
  return {
    takesNotes: mechanism.takesNotes,
    mark: async (caller, command, callId, rules) =>
      withTicket(command, await place(caller, rules, nameOf(command, callId))),
    wait: async (caller, command, callId, rules) => {
      const text = commandPattern(command);
      if (text === null) return;
      const name = nameOf(command, callId);
      const ticket = await place(caller, rules, name);
      const nothing = { ...rules, member: null, claims: false, allow: [], writesHistory: false };
      const strict = await place(caller, nothing, 'strict');
      const content = waitingText(text, ticket, strict, Date.now(), root);
      mkdirSync(waiting, { recursive: true, mode: 0o700 });
      writeFileAtomic(waitingFile(caller, text), content, 0o600);
    },
    forget: (caller, command) => {
      const text = commandPattern(command);
      if (text === null || !existsSync(waiting)) return;
      rmSync(waitingFile(caller, text), { force: true });
      for (const name of readdirSync(waiting))
        if (isOver(join(waiting, name))) rmSync(join(waiting, name), { force: true });
    },
    whole: async (caller, id, rules) => {
      const policy = await policyOf(caller, rules, true);
      const directory = directoryOf(caller);
      return {
        command: [program, policy, join(directory, `${id}.log`), '--'],
        writable: [directory, join(project, caller.team, 'leases')],
      };
    },
    notes: (caller) => {
      const directory = directoryOf(caller);
      const logs = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.log')) : [];
      const before = readOffsets(directory);
      const now = Date.now();
      const after: Record<string, number> = {};
      let text = '';
      for (const name of logs) {
        const path = join(directory, name);
        const { size, mtimeMs } = statSync(path);
        const from = before[name] ?? 0;
        const read = size > from ? newText(path, from) : '';
        text += read;
        if (read === '' && now - mtimeMs > KEPT_MS) {
          rmSync(path, { force: true });
          rmSync(path.replace(/\.log$/, ''), { force: true });
        } else after[name] = from + Buffer.byteLength(read);
      }
      if (text !== '') writeFileAtomic(join(directory, 'read.json'), JSON.stringify(after), 0o600);
      return parseNotes(text);
    },
  };
}

/** For leases of a team, where our shell is in use. */
export function createLeaseFiles({ main, env }: Pick<ShellGuardOptions, 'main' | 'env'>): LeaseFiles {
  const home = guardHomeOf(env);
  return (team, leases, now) => {
    if (home !== null) placeLeases(join(projectDirectory(home, main), team, 'leases'), leases, now);
  };
}
