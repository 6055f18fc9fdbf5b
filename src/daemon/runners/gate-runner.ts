// Runs the measurement of a commit as a process in the namespaces of an agent, in the workspace, without the agent's home.

import { mkdtempSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createAgentHome } from '../../agents/agent-home.ts';
import { type AgentProcess, startAgent } from '../../agents/agent-process.ts';
import type { Isolation } from '../../agents/isolation.ts';
import { issueDirectory } from '../../agents/issue-directory.ts';
import { runtimeLogins } from '../../agents/runtime-logins.ts';
import { toolchainVariables } from '../../agents/toolchains.ts';
import { removeTree } from '../../base/files/remove-tree.ts';
import { packageRoot } from '../../base/package-root.ts';
import type { Clock } from '../../base/ports.ts';
import type { RuntimeDir } from '../../base/processes/runtime-dir.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { clip, oneLine } from '../../base/rules/text.ts';
import { type Evidence, noEvidence } from '../../gate/rules/evidence.ts';
import type { GateRequest, WorkGate } from '../ports.ts';
import type { Workflow } from '../rules/workflow.ts';
import { evidenceSchema } from './evidence-decoder.ts';
import type { GateOrder } from './gate-order.ts';

export type GateRunnerOptions = {
  /** Of the issues whose work is to be measured. */
  readonly line: {
    readonly enter: (issue: number, signal: AbortSignal, onWait: () => void) => Promise<() => void>;
  };
  readonly workflow: () => Workflow;
  readonly stateDir: string;
  readonly runtime: RuntimeDir;
  readonly isolation: Isolation;
  readonly env: Environment;
  readonly clock: Clock;
  /** A new mark for the process and all it starts. */
  readonly newRun: () => string;
};

/** Names of the directories of one measurement begin so. */
const STAY = 'gate-';
/** To make the checkouts, beside the time of the commands on both. */
const AROUND_MS = 600_000;

export class GateRunner implements WorkGate {
  readonly #options: GateRunnerOptions;

  constructor(options: GateRunnerOptions) {
    this.#options = options;
  }

  /** It takes no slot of an agent, but a place in the line of those that measure. */
  async measure(request: GateRequest, signal: AbortSignal): Promise<Evidence> {
    const leave = await this.#options.line.enter(request.issue, signal, () =>
      request.output('waits until other checks have ended\n'),
    );
    try {
      return await this.#measure(request, signal);
    } finally {
      leave();
    }
  }

  async #measure(
    { issue, path, commit, base, timeoutMs, output }: GateRequest,
    signal: AbortSignal,
  ): Promise<Evidence> {
    const { stateDir, runtime, isolation, env, clock, newRun, workflow } = this.#options;
    const place = join(issueDirectory(stateDir, issue), 'homes');
    // What the commands fetch and build is kept for the next round; it goes with the issue.
    const cache = join(place, 'cache-of-gate');
    await mkdir(cache, { recursive: true, mode: 0o700 });
    // One that was killed may have left its own.
    const left = (await readdir(place)).filter((name) => name.startsWith(STAY));
    await Promise.all(left.map((name) => removeTree(join(place, name))));
    const stay = mkdtempSync(join(place, STAY));
    const trees = join(stay, 'trees');
    await mkdir(trees);
    const tmp = runtime.make(basename(stay));
    const run = newRun();
    const late = new AbortController();
    const over = new AbortController();
    void clock.sleep(2 * timeoutMs + AROUND_MS, over.signal).then(() => late.abort());
    try {
      const passed = workflow().tool.env;
      const home = await createAgentHome({ stateDir: stay, issue, attempt: 1, run, tmp, env, passed, carry: null });
      const command = [join(packageRoot(), 'dist', 'cli.js'), 'agent', 'gate'];
      const bounded = isolation.hiding(runtimeLogins(env));
      const [file, args] = bounded.wrap(process.execPath, command, [path, home.path, cache, trees, tmp]);
      let last = '';
      const program = {
        ...{ file, args, cwd: path, run, isIsolated: isolation.active },
        env: { ...toolchainVariables(env, cache), ...home.env, XDG_CACHE_HOME: cache },
      };
      const listener = {
        onLine: (line: string) => {
          last = line;
        },
        onErrorText: (text: string) => output(`${text}\n`),
      };
      const agent: AgentProcess = await startAgent(program, listener, AbortSignal.any([signal, late.signal]));
      const order: GateOrder = { commit, base, place: trees, timeout_ms: timeoutMs };
      agent.write(JSON.stringify(order));
      agent.endInput();
      const { exitCode } = await agent.ended;
      signal.throwIfAborted();
      return evidenceIn(last, commit) ?? noEvidence(commit, base, whyNone(exitCode, last));
    } catch (error) {
      signal.throwIfAborted();
      return noEvidence(commit, base, messageOf(error));
    } finally {
      over.abort();
      runtime.remove(tmp);
      await removeTree(stay).catch(() => undefined);
    }
  }
}

/** What the process says is of the commit that was asked about, or it is nothing. */
function evidenceIn(line: string, commit: string): Evidence | null {
  try {
    const evidence = evidenceSchema.parse(JSON.parse(line));
    return evidence.commit === commit ? evidence : null;
  } catch {
    return null;
  }
}

function whyNone(exitCode: number | null, said: string): string {
  const how = exitCode === null ? 'was ended' : `ended with ${exitCode}`;
  return `the process that measures ${how}${said === '' ? '' : `: ${clip(oneLine(said), 200)}`}`;
}
