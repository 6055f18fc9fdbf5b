// Opening of one repository beside others: the marks of processes, and the end of those left by earlier ones.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import test from 'node:test';
import { execa } from 'execa';
import { RUN_VARIABLE } from '../../src/base/processes/processes.ts';
import { RuntimeDir } from '../../src/base/processes/runtime-dir.ts';
import { ProcessMark } from '../../src/compose/process-mark.ts';
import { openRepository } from '../../src/compose/repository.ts';
import type { Beside, ProcessParts } from '../../src/compose/repository-parts.ts';
import { CONFIG_CODES } from '../../src/daemon/rules/codes/config-codes.ts';
import { workflowOf } from '../../src/daemon/rules/repositories.ts';
import { SlotShares } from '../../src/daemon/slot-shares.ts';
import { WaitingLine } from '../../src/daemon/waiting-line.ts';
import { SETTINGS_VARIABLE } from '../../src/git/git.ts';
import { failsWith } from '../support/codes.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { finallyDo, tempDir } from '../support/temp.ts';
import { workflowWith } from '../support/world.ts';

test('a repository that cannot be opened ends no process of the others', async (t) => {
  const directory = tempDir(t);
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const { PATH = '' } = process.env;
  const log = { log: () => undefined };
  const parts: ProcessParts = {
    processEnv: { PATH, HOME: directory },
    env: { PATH, HOME: directory },
    ...{ tokens: new Map(), authorities: [], runtime, log, secrets: new Set(), once: false },
    ended: new AbortController().signal,
  };
  const path = join(directory, 'WORKFLOW.md');
  const root = join(directory, 'workspaces');
  const workflow = {
    ...workflowWith({ workspace: { root }, tracker: { tokenVariable: 'NOT_SET' } }),
    ...{ path, stateDir: join(directory, 'state') },
  };
  const shares = new SlotShares({ limits: () => ({ slots: 1, costPerDayUsd: null }), clock: new FakeClock() });
  const beside: Beside = {
    mark: new ProcessMark(parts.processEnv, path, log),
    ...{ shares, gateShares: shares, checked: new Set<string>(), fetches: new WaitingLine<string>({ most: () => 1 }) },
    ...{ directories: [], others: () => [] },
  };
  const open = (repo: string) =>
    failsWith(
      openRepository(parts, () => workflowOf(workflow, { owner: 'o', repo }), beside),
      CONFIG_CODES.variable_unset,
    );
  const work = () => {
    const child = execa({ env: parts.processEnv, extendEnv: false, stdio: 'ignore', reject: false })`sleep 60`;
    finallyDo(t, () => child.kill('SIGKILL'));
    return child;
  };
  await open('first');
  const ours = work();
  await once(ours, 'spawn');
  const { [RUN_VARIABLE]: mark, [SETTINGS_VARIABLE]: settings } = parts.processEnv;
  for (const repo of ['first', 'second', 'second']) await open(repo);
  assert.deepEqual([ours.exitCode, ours.signalCode], [null, null]);
  assert.deepEqual([parts.processEnv[RUN_VARIABLE], parts.processEnv[SETTINGS_VARIABLE]], [mark, settings]);
  // The next process ends what this one leaves.
  const gone = once(ours, 'exit');
  await new ProcessMark(parts.processEnv, path, log).take(settings ?? '');
  assert.deepEqual(await gone, [null, 'SIGTERM']);
});
