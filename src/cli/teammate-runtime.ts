// Runtime of the teammates when code leads the team.

import { join } from 'node:path';
import { claudeCommand, claudeVersion, INSTALL_CLAUDE } from '../agents/claude.ts';
import { packageRoot } from '../base/package-root.ts';
import { failure } from '../base/rules/errors.ts';
import type { TeammateRuntime } from '../compose/lead.ts';
import type { ToolSection } from '../daemon/config/tool-section.ts';
import { memberSettings } from '../install/member-settings.ts';
import { CLI_CODES } from './rules/cli-codes.ts';

/** The given program counts first, then WORKFLOW.md, then Claude Code. Throws `ToolError` if none can be used. */
export async function teammateRuntimeOf(
  given: string | undefined,
  section: Omit<ToolSection, 'isolation' | 'startTimeoutMs'>,
): Promise<TeammateRuntime> {
  const { runtime, command, permissionMode, allowedTools } = section;
  if (given?.trim() === '')
    throw failure(CLI_CODES.option_invalid, {
      option: '--command',
      expected: 'a program that reads its prompt from standard input',
      got: 'nothing',
    });
  if (given !== undefined) return { kind: 'command', command: given };
  if (runtime === 'command' && command !== null) return { kind: runtime, command };
  if (runtime !== 'claude') throw failure(CLI_CODES.teammate_runtime_invalid, { got: runtime });
  const program = claudeCommand({ tool: { command } });
  const version = await claudeVersion(program, process.env);
  if (version === null)
    throw failure(CLI_CODES.claude_missing, { command: JSON.stringify(command ?? 'claude'), install: INSTALL_CLAUDE });
  const settings = memberSettings(join(packageRoot(), 'dist', 'hooks'));
  return { kind: runtime, command: program, version, permissionMode, allowedTools, settings };
}
