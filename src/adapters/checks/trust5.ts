// Measures TRUST 5 of finished work: the gate's results, and what its own change says.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ToolError } from '../../domain/errors.ts';
import type { GateResult, QualitySettings } from '../../domain/quality.ts';
import { type Trust5, type Trust5Facts, trust5Of } from '../../domain/trust5.ts';
import type { CommitFacts, Unmeasured, WrittenFacts } from '../../domain/trust5-facts.ts';
import { treeEnvironment } from '../git/work-tree.ts';
import { type CheckRoom, checkEnvironment, createCommands } from './command.ts';
import { readCommits } from './commits.ts';
import { measureComplexity } from './complexity.ts';
import { type ChangedFile, type Range, readAt, readDiff } from './diff.ts';
import { measureFormat } from './formatter.ts';
import { measureSecrets } from './secrets.ts';

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
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Takes the commands and what they print. */
  readonly output?: (text: string) => void;
  /** Makes the place where the commands run; undefined: they run as the caller does. */
  readonly room?: () => Promise<CheckRoom>;
};

/** What git cannot tell, or a file of the project that cannot be read, is not measured; everything else is thrown. */
async function orUnmeasured<T>(read: Promise<T>): Promise<T | Unmeasured> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ToolError && (error.code === 'git' || error.code === 'config'))
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

async function changedFiles(range: Range): Promise<readonly ChangedFile[]> {
  return (await readDiff(range)).files.filter(({ path }) => existsSync(join(range.root, path)));
}

/** What a change is measured by: of the whole, all but the commits or the log that say what it is for. */
type ChangeOptions = Pick<
  Trust5Options,
  'root' | 'gate' | 'settings' | 'signal' | 'now' | 'env' | 'output' | 'room'
> & {
  readonly range: Range | Unmeasured;
  readonly commits: () => Promise<Trust5Facts['commits']>;
};

/** All that is run has `settings.timeoutMs` together; what has not ended then has failed. */
async function measureChange(options: ChangeOptions): Promise<Trust5> {
  const room = await options.room?.();
  try {
    return await measureIn(options, room);
  } finally {
    await room?.close();
  }
}

async function measureIn(options: ChangeOptions, room: CheckRoom | undefined): Promise<Trust5> {
  const { root, gate, settings, range } = options;
  const { signal = new AbortController().signal, now = Date.now, output = () => undefined } = options;
  const env = checkEnvironment(room?.env ?? options.env ?? process.env, root);
  const deadline = now() + settings.timeoutMs;
  const commands = createCommands({ root, env, now, deadline, signal, output, room });
  const files = 'unmeasured' in range ? range : await orUnmeasured(changedFiles(range));
  const { format, complexity } = settings.commands;
  const max = settings.trust5.maxComplexity;
  const before = async (path: string) => ('unmeasured' in range ? null : readAt(range, range.base, path));
  return trust5Of(
    {
      gate,
      format:
        'unmeasured' in files
          ? files
          : await orUnmeasured(
              measureFormat({ root, command: format, files: files.map(({ path }) => path), commands }),
            ),
      complexity:
        'unmeasured' in files
          ? files
          : await measureComplexity({ root, command: complexity, max, files, before, commands }),
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
export async function measureCheckout(options: CheckoutOptions): Promise<Trust5> {
  const { root, change, objects, written, signal = new AbortController().signal } = options;
  const range = 'unmeasured' in change ? change : await rangeOf({ root, signal, objects, ...change });
  return measureChange({ ...options, range, commits: () => Promise.resolve(written) });
}

async function rangeOf({ objects, ...range }: Range & { readonly objects: string }): Promise<Range | Unmeasured> {
  const trees = await treeEnvironment(range.root, objects);
  return trees === null ? { unmeasured: 'there is no Git repository' } : { ...range, trees };
}
