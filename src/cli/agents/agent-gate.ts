// Measures a commit in the namespaces of an agent: the order on standard input, the evidence as the last line of output.

import { readFileSync } from 'node:fs';
import { failure, messageOf } from '../../base/rules/errors.ts';
import { gateOrder } from '../../daemon/runners/gate-order.ts';
import { noEvidence } from '../../gate/rules/evidence.ts';
import { measureEvidence } from '../../gate/run/evidence.ts';
import { createRunGit } from '../../git/worktree-git.ts';
import { TEAM_FILE } from '../../team/config/team-config-file.ts';
import { parseTeamSettings } from '../../team/config/team-settings.ts';
import { DEFAULT_TEAM_SETTINGS } from '../../team/rules/default-settings.ts';
import type { TeamSettings } from '../../team/rules/settings.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { SIGNALS } from '../signals.ts';

function readOrder() {
  try {
    return gateOrder.parse(JSON.parse(readFileSync(0, 'utf8')));
  } catch (error) {
    const values = { missing: 'the order of the daemon on standard input', said: messageOf(error) };
    throw failure(CLI_CODES.agent_command_misused, values, { cause: error });
  }
}

/** As the commit has them: what the work changes in them is not heeded. Throws a ToolError where they cannot be read. */
async function settingsOf(root: string, commit: string): Promise<TeamSettings> {
  const { exitCode, stdout } = await createRunGit(process.env).try(root, ['show', `${commit}:${TEAM_FILE}`]);
  return exitCode === 0 ? parseTeamSettings(stdout, TEAM_FILE) : DEFAULT_TEAM_SETTINGS;
}

export async function gateCommand(): Promise<void> {
  const { commit, base, place, timeout_ms: timeoutMs } = readOrder();
  const root = process.cwd();
  const stop = new AbortController();
  for (const signal of SIGNALS) process.on(signal, () => stop.abort());
  const answer = async () => {
    try {
      // Of a measurement that was killed, whose checkouts are gone.
      await createRunGit(process.env).try(root, ['worktree', 'prune']);
      const { quality, copies } = await settingsOf(root, base);
      return await measureEvidence({
        ...{ root, env: process.env, commit, base, place, timeoutMs, copies },
        settings: quality,
        now: Date.now,
        signal: stop.signal,
        output: (text) => process.stderr.write(text),
      });
    } catch (error) {
      stop.signal.throwIfAborted();
      return noEvidence(commit, base, messageOf(error));
    }
  };
  process.stdout.write(`${JSON.stringify(await answer())}\n`);
}
