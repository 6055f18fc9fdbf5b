// Evidence of a commit: runs the commands that its base names on a checkout of it, and on one of the base to compare.

import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../base/rules/environment.ts';
import { messageOf, ToolError } from '../../base/rules/errors.ts';
import { clip } from '../../base/rules/text.ts';
import { withBaseTree } from '../../git/worktrees/base-tree.ts';
import { planCommands } from '../detect/plan.ts';
import { type CommandRun, type Evidence, noEvidence, withoutOldCoverageGap } from '../rules/evidence.ts';
import { failuresOf, withoutOldFailures } from '../rules/old-failures.ts';
import { type GateResult, gateResult, type QualitySettings, rejection } from '../rules/quality.ts';
import { type Commands, checkEnvironment, createCommands } from './command.ts';
import { type CommandPlan, measure, PLANNED, type TreeFindings } from './measure.ts';

export type EvidenceOptions = {
  /** A checkout of the repository: what is installed in it serves the others. */
  readonly root: string;
  readonly env: Environment;
  readonly commit: string;
  readonly base: string;
  /** All commands on one checkout together, ms. */
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Takes the commands and what they print. */
  readonly output: (text: string) => void;
  /** As the base has them; `copies`: globs of ignored files that a checkout needs. */
  readonly settings: QualitySettings;
  readonly copies: readonly string[];
  /** An empty directory for the checkouts. */
  readonly place: string;
};

/** Characters of a command or a reason that are kept. */
const MAX_WORDS = 300;

/** Notes each command that was started. */
function noting(commands: Commands, runs: CommandRun[]): Commands {
  return {
    ...commands,
    run: async (command, script, options) => {
      const end = await commands.run(command, script, options);
      const { exitCode: exit, timedOut: timed_out, durationMs } = end;
      // Nothing was started: the time of all was over.
      if (timed_out && durationMs === 0) return end;
      runs.push({ command: clip(command, MAX_WORDS), exit, timed_out, seconds: Math.round(durationMs / 100) / 10 });
      return end;
    },
  };
}

/** What the base has no command for is shown as not measured: the work is not charged with it. */
function askedOf(settings: QualitySettings, plan: CommandPlan): QualitySettings {
  const isMissing = (name: string) => PLANNED.some((one) => one === name && plan[one].command === null);
  return { ...settings, required: settings.required.filter((name) => !isMissing(name)) };
}

/** Measures it; rejects when it is aborted, or when no checkout can be made. */
export async function measureEvidence(options: EvidenceOptions): Promise<Evidence> {
  const { root, env, commit, base, copies, place, now, signal, output } = options;
  const objects = join(place, 'objects');
  await mkdir(objects);
  const treeOf = (sha: string) => ({ root, env, copies, objects, commit: sha, tree: sha, above: place });
  const commandsAt = (at: string) =>
    createCommands({
      ...{ root: at, env: checkEnvironment(env, at), now, signal, output },
      deadline: now() + options.timeoutMs,
    });
  const runs: CommandRun[] = [];
  const measureAt = async (
    at: string,
    settings: QualitySettings,
    plan: CommandPlan,
    commands: Commands,
  ): Promise<TreeFindings> => {
    const reports = await mkdtemp(join(tmpdir(), 'toolcrew-reports-'));
    return measure({ root: at, settings, commands, reports, plan });
  };
  try {
    const plan = await withBaseTree(treeOf(base), (at) => {
      const { env: around, ask } = commandsAt(at);
      return planCommands(PLANNED, options.settings, { root: at, env: around, ask });
    });
    const settings = askedOf({ ...options.settings, timeoutMs: options.timeoutMs }, plan);
    const after = await withBaseTree(treeOf(commit), (at) =>
      measureAt(at, settings, plan, noting(commandsAt(at), runs)),
    );
    const found = gateResult({ tree: commit, ...after });
    // Made after the run on the commit, which therefore finds no file of it. It has as much time as the commit had.
    const before =
      found.ok && found.coverage === null
        ? null
        : await withBaseTree(treeOf(base), (at) => measureAt(at, settings, plan, commandsAt(at)));
    return evidenceOf(options, settings, runs, found, before);
  } catch (error) {
    if (signal.aborted || !(error instanceof ToolError) || error.kind !== 'config') throw error;
    return noEvidence(commit, base, clip(messageOf(error), MAX_WORDS));
  }
}

function evidenceOf(
  { commit, base, now }: EvidenceOptions,
  settings: QualitySettings,
  commands: readonly CommandRun[],
  found: GateResult,
  before: TreeFindings | null,
): Evidence {
  const baseline =
    before === null
      ? null
      : { at: now(), checks: before.checks, coverage: before.coverage, old: failuresOf(before.checks) };
  const held = withoutOldCoverageGap(withoutOldFailures(found, baseline), before?.coverage ?? null);
  const checks = held.checks.map(({ check, outcome, reason, figure }) => ({
    ...{ check, outcome },
    reason: clip(reason, MAX_WORDS),
    figure: figure === null ? null : clip(figure, MAX_WORDS),
  }));
  return {
    ...{ commit, base, ok: held.ok, checks, commands },
    coverage: { before: before?.coverage ?? null, after: held.coverage },
    rejection: rejection(held, settings),
    unmeasured: null,
  };
}
