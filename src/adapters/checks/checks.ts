// The quality gate's measuring: the project's own checks, run once for each state of the work tree that passes them.

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gateResult, type QualitySettings } from '../../domain/quality.ts';
import type { Checks } from '../../engine/ports.ts';
import { type CheckRoom, checkEnvironment, createCommands } from './command.ts';
import { measure } from './measure.ts';
import { keep, readKept, takeTurn } from './store.ts';
import { treeOf } from './tree.ts';

export type ChecksOptions = {
  /** The project's directory. */
  readonly root: string;
  /** Where results are kept; made when there is something to keep. */
  readonly cacheDirectory: string;
  readonly now: () => number;
  /** The caller's environment; credentials in it are not handed on. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Takes the commands and what they print. */
  readonly output?: (text: string) => void;
  /** Makes the place where the commands run; undefined: they run as the caller does. */
  readonly room?: () => Promise<CheckRoom>;
};

/** Counted up when the same settings on the same tree would be judged otherwise. */
const VERSION = 11;

/** Installed beside the tree, ignored by it, and decisive for its checks. */
const INSTALLED = [
  'node_modules/.package-lock.json',
  'node_modules/.modules.yaml',
  'node_modules/.yarn-integrity',
  '.venv/pyvenv.cfg',
];

/** Between the deadline and the end of what was still running then. */
const LATE_MS = 10_000;

export function createChecks({
  root,
  cacheDirectory,
  now,
  env: callerEnv = process.env,
  output = () => undefined,
  room: openRoom,
}: ChecksOptions): Checks {
  return {
    run: async (settings, signal) => {
      signal.throwIfAborted();
      const asked = now();
      const deadline = asked + settings.timeoutMs;
      const leftOut = [cacheDirectory, ...(settings.coverageReport === null ? [] : [settings.coverageReport])];
      const readTree = () => treeOf({ root, leftOut, signal });
      const tree = await readTree();
      const room = await openRoom?.();
      let endTurn: (() => void) | null | undefined;
      let reports: string | undefined;
      try {
        const env = checkEnvironment(room?.env ?? callerEnv, root);
        const key = `${tree}-${digestOf(settings, env, [root, ...(room?.installedIn ?? [])])}`;
        let kept = readKept(cacheDirectory, key, asked);
        const isEnough = () => {
          kept ??= readKept(cacheDirectory, key, asked);
          return kept !== null || now() >= deadline;
        };
        endTurn = await takeTurn(cacheDirectory, key, isEnough, { now, until: deadline + LATE_MS, signal });
        // Who was waited for has left its result before it left.
        kept ??= readKept(cacheDirectory, key, asked);
        if (kept !== null) return kept;
        reports = await mkdtemp(join(room?.tmp ?? tmpdir(), 'toolcrew-checks-'));
        const commands = createCommands({ root, env, now, deadline, signal, output, room });
        const { lasts, ...findings } = await measure({ root, settings, commands, reports });
        const result = gateResult({ tree, ...findings });
        // Work that went on meanwhile makes it a result of neither tree.
        if (lasts && (await readTree()) === tree) keep(cacheDirectory, key, result, now());
        return result;
      } finally {
        endTurn?.();
        if (reports !== undefined) await rm(reports, { recursive: true, force: true });
        await room?.close();
      }
    },
  };
}

/** @param places where what is installed is found */
function digestOf(settings: QualitySettings, env: Readonly<Record<string, string>>, places: readonly string[]): string {
  const installed = places.flatMap((place) =>
    INSTALLED.map((path) => statSync(join(place, path), { throwIfNoEntry: false })?.mtimeMs ?? null),
  );
  return createHash('sha256')
    .update(JSON.stringify([VERSION, settings, env.PATH, installed]))
    .digest('hex')
    .slice(0, 16);
}
