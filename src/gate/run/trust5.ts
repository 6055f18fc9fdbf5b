// Measures TRUST 5 of finished work: the gate's results, and what its own change says.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { refusal, textOf } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { ToolError } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import { trackedFiles } from '../../git/tracked-files.ts';
import { treeEnvironment } from '../../git/work-tree.ts';
import { planCommands } from '../detect/plan.ts';
import type { Proposal } from '../detect/proposal.ts';
import { readCommits } from '../readers/commits.ts';
import { type Range, readDiff } from '../readers/diff.ts';
import { measureSecrets } from '../readers/secrets.ts';
import { couldNotRun, howItEnded, linesOf } from '../rules/check-results.ts';
import { GATE_CODES } from '../rules/gate-codes.ts';
import type { GateResult, QualitySettings } from '../rules/quality.ts';
import { withPlaces } from '../rules/tool-output.ts';
import { type Trust5, type Trust5Facts, trust5Of } from '../rules/trust5.ts';
import type { CommandFacts, CommitFacts, Unmeasured, WrittenFacts } from '../rules/trust5-facts.ts';
import { type CheckSandbox, type Commands, checkEnvironment, createCommands } from './command.ts';

export type Trust5Options = {
  /** A work tree that stands at `head`. */
  readonly root: string;
  /** Commits: where the work began, and where it is. */
  readonly base: string;
  readonly head: string;
  readonly gate: GateResult;
  readonly settings: QualitySettings;
  /** The id of the SPEC that the work is for; null: none. */
  readonly spec: string | null;
  /** Ids that a commit may name as its task; null: any. */
  readonly tasks?: readonly string[] | null;
  readonly signal?: AbortSignal;
  readonly now?: () => number;
  /** The caller's environment; credentials in it are not handed on. */
  readonly env?: Environment;
  /** Takes the commands and what they print. */
  readonly output?: (text: string) => void;
  /** Makes the place where the commands run; undefined: they run as the caller does. */
  readonly openSandbox?: () => Promise<CheckSandbox>;
};

/** What git cannot tell, or a file of the project that cannot be read, is not measured; everything else is thrown. */
async function orUnmeasured<T>(read: Promise<T>): Promise<T | Unmeasured> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ToolError && (error.kind === 'git' || error.kind === 'config'))
      return { unmeasured: error.message };
    throw error;
  }
}

async function measureCommits(
  range: Range,
  spec: string | null,
  tasks: readonly string[] | null,
): Promise<CommitFacts> {
  const commits = await readCommits(range, spec, tasks);
  return { source: `git log ${range.base.slice(0, 12)}..${range.head.slice(0, 12)}`, commits, spec, tasks };
}

async function changedFiles(range: Range): Promise<readonly string[]> {
  const { files } = await readDiff(range);
  return files.map(({ path }) => path).filter((path) => existsSync(join(range.root, path)));
}

/** A place in a line of a tool's output: a path, and a line of that file where one follows. */
const PLACE = /(?:\.\/)?([^\s:()[\],'"`]+)(?:[:(](\d+))?/g;

/**
 * A command fails by its exit code. Findings are the lines that name a changed file; where it names unchanged files
 * alone, the change has none.
 */
async function measureByCommand(
  { command, reason }: Proposal,
  { root }: Pick<Range, 'root'>,
  changed: readonly string[],
  commands: Commands,
): Promise<CommandFacts | Unmeasured> {
  if (command === null) return { unmeasured: reason };
  const end = await commands.run(command, command);
  const facts = { source: command, files: changed.length };
  if (end.exitCode === 0) return { ...facts, findings: [] };
  const lines = linesOf(end);
  const how = end.timedOut ? 'did not end in time' : couldNotRun(end) ? 'cannot be run' : howItEnded(end);
  const words = textOf(
    refusal(GATE_CODES.check_failed, { command, how, said: oneLine(lines[0] ?? 'it said nothing') }),
  );
  const whole = { path: null, line: null, words };
  if (end.timedOut || couldNotRun(end)) return { ...facts, findings: [whole] };
  const tracked = new Set(await trackedFiles(root));
  const named = withPlaces(lines).flatMap((text) => {
    const [place] = [...text.matchAll(PLACE)].filter(([, path = '']) => tracked.has(path));
    const [all = '', path = '', line] = place ?? [];
    const words = oneLine(text.startsWith(all) ? text.slice(all.length).replace(/^[:\d\s]+/, '') || text : text);
    return place === undefined ? [] : [{ path, line: line === undefined ? null : Number(line), words }];
  });
  const own = named.filter(({ path }) => changed.includes(path));
  return { ...facts, findings: named.length === 0 ? [whole] : own };
}

/** What a change is measured by: of the whole, all but the commits or the log that say what it is for. */
type ChangeOptions = Pick<
  Trust5Options,
  'root' | 'gate' | 'settings' | 'signal' | 'now' | 'env' | 'output' | 'openSandbox'
> & {
  readonly range: Range | Unmeasured;
  readonly commits: () => Promise<Trust5Facts['commits']>;
};

/** All that is run has `settings.timeoutMs` together; what has not ended then has failed. */
async function measureChange(options: ChangeOptions): Promise<Trust5> {
  const sandbox = await options.openSandbox?.();
  try {
    return await measureIn(options, sandbox);
  } finally {
    await sandbox?.close();
  }
}

async function measureIn(options: ChangeOptions, sandbox: CheckSandbox | undefined): Promise<Trust5> {
  const { root, gate, settings, range } = options;
  const { signal = new AbortController().signal, now = Date.now, output = () => undefined } = options;
  const env = checkEnvironment(sandbox?.env ?? options.env ?? process.env, root);
  const deadline = now() + settings.timeoutMs;
  const commands = createCommands({ root, env, now, deadline, signal, output, sandbox });
  const files = 'unmeasured' in range ? range : await orUnmeasured(changedFiles(range));
  const plan = await orUnmeasured(planCommands(['format', 'complexity'], settings, { root, env, ask: commands.ask }));
  const byCommand = async (name: 'format' | 'complexity') =>
    'unmeasured' in files
      ? files
      : 'unmeasured' in plan
        ? plan
        : measureByCommand(plan[name], { root }, files, commands);
  return trust5Of(
    {
      gate,
      format: await byCommand('format'),
      complexity: await byCommand('complexity'),
      secrets: 'unmeasured' in range ? range : await orUnmeasured(measureSecrets(range, settings.secrets)),
      commits: await options.commits(),
    },
    settings,
  );
}

/** Of commits: what a team has built on a branch of its own. */
export async function measureTrust5(options: Trust5Options): Promise<Trust5> {
  const { root, base, head, spec, tasks = null, signal = new AbortController().signal } = options;
  const range = { root, base, head, signal };
  return measureChange({ ...options, range, commits: () => orUnmeasured(measureCommits(range, spec, tasks)) });
}

export type CheckoutOptions = Omit<Trust5Options, 'base' | 'head' | 'spec' | 'tasks'> & {
  /** Git trees: where the work began, and where it is; or why there are none. */
  readonly change: { readonly base: string; readonly head: string } | Unmeasured;
  /** Takes the objects of such trees. */
  readonly objects: string;
  readonly written: WrittenFacts;
};

/** Of a checkout in which a team has worked: trees in place of commits. */
export async function measureCheckoutTrust5(options: CheckoutOptions): Promise<Trust5> {
  const { root, change, objects, written, signal = new AbortController().signal } = options;
  const range = 'unmeasured' in change ? change : await rangeOf({ root, signal, objects, ...change });
  return measureChange({ ...options, range, commits: () => Promise.resolve(written) });
}

async function rangeOf({ objects, ...range }: Range & { readonly objects: string }): Promise<Range | Unmeasured> {
  const trees = await treeEnvironment(range.root, objects);
  return trees === null ? { unmeasured: 'there is no Git repository' } : { ...range, trees };
}
