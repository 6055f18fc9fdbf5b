// The quality gate's measuring: the project's own checks, run once for each state of the work tree that passes them.

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../base/rules/environment.ts';
import { previewPlan } from '../detect/plan-preview.ts';
import type { Checks } from '../ports.ts';
import { missingParts, missingRefusal } from '../rules/plan-preview.ts';
import { type GateResult, gateResult, type QualitySettings } from '../rules/quality.ts';
import { acquireCheckLock, type CheckLock, checkLockPath, noTimeLeft } from './check-lock.ts';
import { type CheckSandbox, checkEnvironment, createCommands } from './command.ts';
import { measure } from './measure.ts';
import { readResult, storeResult } from './result-store.ts';
import { treeFingerprint } from './tree-fingerprint.ts';

export type ChecksOptions = {
  /** The project's directory. */
  readonly root: string;
  /** Where results are kept; made when there is something to keep. */
  readonly cacheDirectory: string;
  readonly now: () => number;
  /** The caller's environment; credentials in it are not handed on. */
  readonly env?: Environment;
  /** Takes the commands and what they print. */
  readonly output?: (text: string) => void;
  /** Waiting for others and measuring together, ms; undefined: as long as it takes. */
  readonly patienceMs?: number;
  /** Opens the sandbox for the commands; undefined: they run as the caller does. */
  readonly openSandbox?: () => Promise<CheckSandbox>;
  /** If a separate tree is measured: the checkout whose repository holds the lock. */
  readonly lockRoot?: string;
};

/** Counted up when the same settings on the same tree would be judged otherwise. */
const VERSION = 20;

/** Installed beside the tree, ignored by it, and decisive for its checks. */
const INSTALLED = [
  'node_modules/.package-lock.json',
  'node_modules/.modules.yaml',
  'node_modules/.yarn-integrity',
  '.venv/pyvenv.cfg',
];

export function createChecks({
  root,
  cacheDirectory,
  now,
  env: callerEnv = process.env,
  output = () => undefined,
  patienceMs = Number.POSITIVE_INFINITY,
  openSandbox,
  lockRoot = root,
}: ChecksOptions): Checks {
  return {
    missing: async (settings) => {
      const prospects = await previewPlan(root, settings, callerEnv);
      return 'of' in prospects ? [prospects] : missingParts(prospects, settings).map(missingRefusal);
    },
    run: async (settings, signal, since) => {
      signal.throwIfAborted();
      const asked = since ?? now();
      const leftOut = [cacheDirectory, ...(settings.coverageReport === null ? [] : [settings.coverageReport])];
      const readTree = () => treeFingerprint({ root, leftOut, signal });
      let tree = await readTree();
      const sandbox = await openSandbox?.();
      let lock: CheckLock | null = null;
      let begunAt: number | null = null;
      let reports: string | undefined;
      try {
        const env = checkEnvironment(sandbox?.env ?? callerEnv, root);
        const digest = digestOf(settings, sandbox?.env ?? callerEnv, [root, ...(sandbox?.installedIn ?? [])]);
        let kept: GateResult | null = null;
        const isEnough = () => {
          kept ??= readResult(cacheDirectory, `${tree}-${digest}`, asked);
          return kept !== null;
        };
        if (!isEnough()) {
          const path = await checkLockPath(lockRoot, cacheDirectory, signal);
          // The half that is left is for what is measured then.
          lock = await acquireCheckLock({ path, now, giveUpAt: asked + patienceMs / 2, signal }, isEnough);
          if (lock?.hasWaited === true) tree = await readTree();
        }
        // Who was waited for has left its result before it left.
        if (isEnough() && kept !== null) return kept;
        const hasWaited = lock?.hasWaited === true || since !== undefined;
        const latest = hasWaited ? asked + patienceMs : Number.POSITIVE_INFINITY;
        // Whoever asks anew, and need not wait, has all the time: it is not taken away for what would be thrown away.
        if (now() + (lock?.lastMs ?? 0) > latest) throw noTimeLeft();
        begunAt = now();
        const own = begunAt + settings.timeoutMs;
        const deadline = Math.min(own, latest);
        reports = await mkdtemp(join(sandbox?.tmp ?? tmpdir(), 'toolcrew-checks-'));
        const commands = createCommands({ root, env, now, deadline, signal, output, sandbox });
        const { lasts, ...findings } = await measure({ root, settings, commands, reports });
        const result = gateResult({ tree, ...findings });
        if (!result.ok && deadline < own && now() >= deadline) throw noTimeLeft();
        // Work that went on meanwhile makes it a result of neither tree.
        if (lasts && (await readTree()) === tree) storeResult(cacheDirectory, `${tree}-${digest}`, result, now());
        return result;
      } finally {
        lock?.release(begunAt === null ? null : now() - begunAt);
        if (reports !== undefined) await rm(reports, { recursive: true, force: true });
        await sandbox?.close();
      }
    },
  };
}

/** @param places where what is installed is found */
function digestOf(settings: QualitySettings, env: Environment, places: readonly string[]): string {
  const installed = places.flatMap((place) =>
    INSTALLED.map((path) => statSync(join(place, path), { throwIfNoEntry: false })?.mtimeMs ?? null),
  );
  return createHash('sha256')
    .update(JSON.stringify([VERSION, settings, env.PATH, installed]))
    .digest('hex')
    .slice(0, 16);
}
