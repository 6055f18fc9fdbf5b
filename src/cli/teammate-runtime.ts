// Runtime of the teammates when code leads the team.

import { join } from 'node:path';
import { claudeCommand, claudeVersion, INSTALL_CLAUDE } from '../agents/claude.ts';
import { packageRoot } from '../base/package-root.ts';
import { ToolError } from '../base/rules/errors.ts';
import type { TeammateRuntime } from '../compose/lead.ts';
import type { ToolSection } from '../daemon/config/tool-section.ts';
import { memberSettings } from '../install/member-settings.ts';

/** The given program counts first, then WORKFLOW.md, then Claude Code. Throws `ToolError` if none can be used. */
export async function teammateRuntimeOf(
  given: string | undefined,
  section: Omit<ToolSection, 'isolation' | 'startTimeoutMs'>,
): Promise<TeammateRuntime> {
  const { runtime, command, permissionMode, allowedTools } = section;
  if (given?.trim() === '')
    throw new ToolError(
      'usage',
      '--command: expected a program that reads its prompt from standard input, got nothing',
    );
  if (given !== undefined) return { kind: 'command', command: given };
  if (runtime === 'command' && command !== null) return { kind: runtime, command };
  if (runtime !== 'claude')
    throw new ToolError(
      'config',
      `teammates: expected tool.runtime claude or command in ./WORKFLOW.md, or a program to play them with --command; got runtime ${runtime}`,
    );
  const program = claudeCommand({ tool: { command } });
  const version = await claudeVersion(program, process.env);
  if (version === null)
    throw new ToolError(
      'prerequisite',
      `teammates: expected Claude Code as ${JSON.stringify(command ?? 'claude')}, which does not say its version; ${INSTALL_CLAUDE}, or name a program to play them with --command`,
    );
  const settings = memberSettings(join(packageRoot(), 'dist', 'hooks'));
  return { kind: runtime, command: program, version, permissionMode, allowedTools, settings };
}
