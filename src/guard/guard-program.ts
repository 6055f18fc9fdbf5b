// The program of the write guard: unpacked from the installation, and tried before anything depends on it.

import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { release, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { writeFileAtomic } from '../base/files/atomic-write.ts';
import { lazyCrypto } from '../base/lazy-crypto.ts';
import { helpIn, messageIn, type Refusal, refusal } from '../base/rules/codes.ts';
import { setVariables } from '../base/rules/environment.ts';
import { errorCode, messageOf } from '../base/rules/errors.ts';
import { gitRows } from './rules/git-calls.ts';
import { GUARD_CODES } from './rules/guard-codes.ts';
import { BARE_POLICY, type Policy, policyText } from './rules/policy.ts';
import { packedGuard } from './rules/program-name.ts';

/** The unpacked program beside our shell. The number is that of the policy's format. */
export const GUARD_PROGRAM = 'write-guard-1';

/** The program's file in an installation. */
export const PACKED_PROGRAM = packedGuard(process.platform, process.arch);

/** The length of a packed program, which its last four bytes say. */
function unpackedLength(packed: Buffer): number {
  return packed.length < 4 ? -1 : packed.readUInt32LE(packed.length - 4);
}

function isWhole(program: string, length: number): boolean {
  try {
    accessSync(program, constants.X_OK);
    return statSync(program).size === length;
  } catch {
    return false;
  }
}

/** Removes programs of other packages, with what is known of them. A running one goes on. */
function dropOthers(keep: string, program: string): void {
  for (const name of readdirSync(keep)) {
    const [, other] = /^(?:works-)?(write-guard-[0-9a-f]{12})$/.exec(name) ?? [];
    if (other !== undefined && other !== program) rmSync(join(keep, name), { force: true });
  }
}

/**
 * The program for this machine, from the first directory that has a whole one; null where none has.
 * @param keep where it is unpacked, once for each content
 * @throws where nothing can be written to `keep`
 */
export async function guardProgram(directories: readonly string[], keep: string): Promise<string | null> {
  for (const packed of directories.map((directory) => join(directory, PACKED_PROGRAM))) {
    if (!existsSync(packed)) continue;
    const bytes = readFileSync(packed);
    const hash = lazyCrypto().createHash('sha256').update(bytes).digest('hex');
    const program = join(keep, `write-guard-${hash.slice(0, 12)}`);
    if (isWhole(program, unpackedLength(bytes))) return program;
    const { unpackProgram } = await import('./packed-program.ts');
    let content: Buffer;
    try {
      content = unpackProgram(bytes);
    } catch {
      continue; // Cut off or changed: the package may have a whole one.
    }
    mkdirSync(keep, { recursive: true, mode: 0o700 });
    writeFileAtomic(program, content, 0o700);
    dropOthers(keep, basename(program));
    return program;
  }
  return null;
}

/** `mend`: what a user can do about it. */
type Reason = { readonly why: string; readonly mend: string };
export type TrialResult = { readonly works: true } | ({ readonly works: false } & Reason);

/** The machine, as far as the guard depends on it. */
export type Machine = {
  /** Of the kernel. */
  readonly release: string;
  /** The kernel's own line about itself. */
  readonly version: string;
  readonly bootId: string;
  /** kernel.yama.ptrace_scope; empty where the kernel has no such setting. */
  readonly ptraceScope: string;
};

function firstLine(path: string): string {
  try {
    return readFileSync(path, 'utf8').split('\n', 1)[0] ?? '';
  } catch {
    return '';
  }
}

function thisMachine(): Machine {
  return {
    release: release(),
    version: firstLine('/proc/version'),
    bootId: firstLine('/proc/sys/kernel/random/boot_id'),
    ptraceScope: firstLine('/proc/sys/kernel/yama/ptrace_scope'),
  };
}

/** How the trial ended: a code of the program or of `TRIAL_SCRIPT`, or the error that kept it from starting. */
export type TrialEnd = { readonly code: number | string; readonly stderr: string };

/** The exit code of a guard that cannot start. */
const CANNOT_START = 125;
const [OWN_REFUSED, FOREIGN_WRITTEN] = [3, 4];
/** A shell's script: under the guard, `own` is the caller's file and `foreign` another's. */
export const TRIAL_SCRIPT = `echo x > own || exit ${OWN_REFUSED}; (echo x > foreign) 2>/dev/null && exit ${FOREIGN_WRITTEN}; exit 0`;
const TRIAL_MS = 10_000;

/** Linux has had user notification that lets a call continue since then. */
const [OLDEST_MAJOR, OLDEST_MINOR] = [5, 5];

function isTooOld(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map((part) => Number.parseInt(part, 10));
  return major < OLDEST_MAJOR || (major === OLDEST_MAJOR && minor < OLDEST_MINOR);
}

const NEWER_KERNEL = `${OLDEST_MAJOR}.${OLDEST_MINOR}`;
/** What sandbox-exec says inside another sandbox. */
const NESTED = 'sandbox_apply: Operation not permitted';

/** A line of the program itself: our name, the message, its code. */
const OWN_LINE = /^toolcrew: (.*) \(guard_[a-z_]+\)$/;

/** A refusal of the table as the reason that a user is given. */
export function refusalReason(one: Refusal): Reason {
  return { why: messageIn(one), mend: helpIn(one) ?? '' };
}

/** The refusal for a failed trial, in one line. */
function refusalFor({ code, stderr }: TrialEnd, machine: Machine): Refusal {
  const first = stderr.trim().split('\n')[0] ?? '';
  const said = first === '' ? {} : { said: first.replace(OWN_LINE, '$1') };
  if (code === 'EACCES' || code === 'EPERM') return refusal(GUARD_CODES.guard_program_not_executable, {});
  if (code === 'timeout') return refusal(GUARD_CODES.guard_program_timed_out, { seconds: TRIAL_MS / 1000 });
  if (typeof code === 'string')
    return refusal(GUARD_CODES.guard_program_broken, { what: `the program cannot be started (${code})` });
  if (code === FOREIGN_WRITTEN)
    return refusal(GUARD_CODES.guard_nested, {
      what: 'the program let a forbidden write pass, as it does inside another guard or tracer',
    });
  if (first.includes(NESTED))
    return refusal(GUARD_CODES.guard_nested, {
      what: 'another sandbox is around this shell, and Seatbelt does not nest',
    });
  const kernel = (what: string, more: { readonly said?: string } = {}) =>
    refusal(GUARD_CODES.guard_kernel_unsupported, { what, required: NEWER_KERNEL, ...more });
  if (/gvisor/i.test(machine.version) || machine.version.startsWith('Linux version 4.4.0 '))
    return kernel('gVisor runs this system, and gVisor has no seccomp user notification');
  if (isTooOld(machine.release))
    return kernel(`the kernel ${machine.release} is too old: ${NEWER_KERNEL} or later is needed`);
  // A scope of 3 stays until the machine starts again.
  if (machine.ptraceScope === '3') return refusal(GUARD_CODES.guard_ptrace_locked, { scope: machine.ptraceScope });
  if (machine.ptraceScope === '2') return refusal(GUARD_CODES.guard_ptrace_restricted, { scope: machine.ptraceScope });
  if (code === CANNOT_START && first.includes('seccomp'))
    return kernel('the kernel offers no seccomp user notification here', said);
  const what = code === CANNOT_START ? 'the guard cannot start' : `the trial ended with exit code ${code}`;
  return refusal(GUARD_CODES.guard_program_broken, { what, ...said });
}

/** The reason for a failed trial, in one line. */
export function trialFailureReason(ending: TrialEnd, machine: Machine): Reason {
  return refusalReason(refusalFor(ending, machine));
}

/** The text of a policy, as the program reads it. */
type PolicyText = (policy: Policy) => string | Promise<string>;

async function trial(program: string, textOf: PolicyText): Promise<TrialEnd> {
  const { runProgram } = await import('../base/processes/program.ts');
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrew-guard-')));
  try {
    const project = join(directory, 'project');
    mkdirSync(project);
    const ownership = ['own', 'foreign'].map((owner) => ({ owner, patterns: [owner] }));
    const git = gitRows('shared', 'own');
    const policy: Policy = { ...BARE_POLICY, root: project, member: 'own', ownership, git };
    writeFileSync(join(directory, 'policy'), await textOf(policy));
    const words = [join(directory, 'policy'), join(directory, 'log'), '--', '/bin/sh', '-c', TRIAL_SCRIPT];
    const options = { cwd: project, env: setVariables(process.env), timeoutMs: TRIAL_MS, graceMs: 0 };
    const ending: TrialEnd = await runProgram(program, words, options).then(
      ({ exitCode, signal, timedOut, stderr }) => ({
        code: timedOut ? 'timeout' : (exitCode ?? signal ?? 'unknown'),
        stderr,
      }),
      ({ cause }: Error) => ({ code: String(errorCode(cause) ?? messageOf(cause)), stderr: '' }),
    );
    const isHeld = existsSync(join(project, 'own')) && !existsSync(join(project, 'foreign'));
    return ending.code === 0 && !isHeld ? { ...ending, code: FOREIGN_WRITTEN } : ending;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function readVerdict(path: string, key: string): TrialResult | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value !== 'object' || value === null || !('key' in value) || value.key !== key) return undefined;
    if ('why' in value && typeof value.why === 'string' && 'mend' in value && typeof value.mend === 'string')
      return { works: false, why: value.why, mend: value.mend };
    return 'works' in value && value.works === true ? { works: true } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether the program guards on this machine: a trial run, once for each program, kernel, boot and ptrace scope.
 * @param keep where the verdict is kept
 * @param isAnew whether a kept verdict is ignored
 */
export async function guardWorks(
  program: string,
  keep: string,
  isAnew = false,
  textOf: PolicyText = policyText,
): Promise<TrialResult> {
  const machine = thisMachine();
  const status = statSync(program, { throwIfNoEntry: false });
  if (status === undefined) return { works: false, ...refusalReason(refusal(GUARD_CODES.guard_program_gone, {})) };
  // The program's name holds its hash; size and time tell one that was replaced.
  const { release, bootId, ptraceScope } = machine;
  const key = [basename(program), status.size, status.mtimeMs, release, bootId, ptraceScope].join(' ');
  const path = join(keep, `works-${basename(program)}`);
  const known = isAnew ? undefined : readVerdict(path, key);
  if (known !== undefined) return known;
  const ending = await trial(program, textOf);
  const verdict: TrialResult =
    ending.code === 0 ? { works: true } : { works: false, ...trialFailureReason(ending, machine) };
  // Inside another guard the trial fails, and says nothing of the calls outside.
  if (ending.code === FOREIGN_WRITTEN || ending.stderr.includes(NESTED)) return verdict;
  try {
    writeFileAtomic(path, JSON.stringify({ key, ...verdict }), 0o600);
  } catch {
    // The next call tries again.
  }
  return verdict;
}
