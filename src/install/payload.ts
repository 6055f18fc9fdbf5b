// Content of an installation: files of our own, and entries for files of the project.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { BASE_CODES } from '../base/rules/base-codes.ts';
import { failure } from '../base/rules/errors.ts';
import { EXIT_REFUSED, GUARD_SCRIPT, HOOK_SCRIPTS, type HookForm, hookGroups, TEAM_SERVER } from './hook-table.ts';
import { jsonFile } from './json-layout.ts';
import type { JsonEntry } from './json-merge.ts';
import { sha256 } from './outcome.ts';

export type PayloadFile = {
  readonly path: string;
  readonly bytes: Buffer;
  /** Written only when no such file exists: the project's own file serves as well. */
  readonly offered?: true;
};

type MergedEntries = { readonly path: string; readonly entries: readonly JsonEntry[] };

export type Payload = {
  readonly files: readonly PayloadFile[];
  readonly merged: readonly MergedEntries[];
  /** Entries for unversioned files of one user. They replace values, which a removal restores. Absent: no change. */
  readonly personal?: readonly MergedEntries[];
};

export type PayloadOptions = {
  /** The directory of this package. */
  readonly from: string;
  readonly version: string;
  readonly form: HookForm;
  /** The text of .tool/config/workflow.yaml. */
  readonly configText: string;
};

const HOOKS = '.tool/hooks';
const SERVER_SCRIPT = 'team-server';

/** Ignored by version control: runtime data of teams, and files that can be made again. */
const IGNORED = 'teams/\ncache/\nstate/\n';

/** All tools of the team's server: without the rule the host asks about each call, and headless it refuses them. */
const ALLOWED = `mcp__${TEAM_SERVER}`;

function read(from: string, path: string): Buffer {
  if (!existsSync(join(from, path))) throw failure(BASE_CODES.package_incomplete, { path, directory: from });
  return readFileSync(join(from, path));
}

/** Prefix of the team server's tools when a plugin provides it, as in the texts of this package. */
const OF_PLUGIN = `mcp__plugin_tool_${TEAM_SERVER}__`;

/** Text for the host, with the tool names of a project. */
function textFile(from: string, path: string): Buffer {
  return Buffer.from(read(from, path).toString('utf8').replaceAll(OF_PLUGIN, `mcp__${TEAM_SERVER}__`));
}

function texts(from: string): PayloadFile[] {
  const list = (directory: string) => readdirSync(join(from, directory)).sort();
  const agents = list('agents').map((file) => ({
    path: `.claude/agents/${file}`,
    bytes: textFile(from, `agents/${file}`),
    // The agent for issues is often the project's own.
    ...(file.startsWith('team-') ? {} : { offered: true as const }),
  }));
  const commands = list('commands').map((file) => ({
    path: `.claude/commands/tool/${file}`,
    bytes: textFile(from, `commands/${file}`),
  }));
  const skills = list('skills').map((name) => ({
    path: `.claude/skills/${name}/SKILL.md`,
    bytes: read(from, `skills/${name}/SKILL.md`),
  }));
  return [...agents, ...commands, ...skills];
}

/** Name without its extension: linters, formatters and coverage tools would take a bundle for source of the project. */
function installedName(name: string): string {
  return name.replace(/\.js$/, '');
}

/** Copies of the scripts: a clone of the project works without this package, with hooks and server of one version. */
function scripts(from: string, version: string): PayloadFile[] {
  const needed = [...[...HOOK_SCRIPTS, SERVER_SCRIPT].map((script) => `${script}.js`), GUARD_SCRIPT, 'package.json'];
  for (const name of needed) read(from, `dist/hooks/${name}`);
  // Shared code of the scripts may be in separate files.
  const hooks = readdirSync(join(from, 'dist', 'hooks'), { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && !file.name.endsWith('.map'))
    .map((file) => relative(join(from, 'dist', 'hooks'), join(file.parentPath, file.name)).replaceAll(sep, '/'))
    .sort();
  const files = hooks.map((name) => ({ name: installedName(name), bytes: read(from, `dist/hooks/${name}`) }));
  const hashes = Object.fromEntries(files.map(({ name, bytes }) => [name, sha256(bytes)]));
  return [
    {
      path: `${HOOKS}/version.json`,
      bytes: Buffer.from(jsonFile({ version, files: hashes })),
    },
    ...files.map(({ name, bytes }) => ({ path: `${HOOKS}/${name}`, bytes })),
  ];
}

function settings(form: HookForm): JsonEntry[] {
  const member = (path: readonly string[], value: unknown): JsonEntry => ({ place: 'member', path, value });
  const place = `"$CLAUDE_PROJECT_DIR/${HOOKS}`;
  const commands = {
    script: (name: string) => `node ${place}/${name}"`,
    watcher: `sh ${place}/${GUARD_SCRIPT}"`,
    // Allow where the settings are shared without our other files and without a team. An existing watcher has decided.
    refusal: `{ [ ! -e ${place}/${GUARD_SCRIPT}" ] && [ ! -d "$CLAUDE_PROJECT_DIR/.tool/teams" ]; } || ${EXIT_REFUSED}`,
  };
  const hooks = hookGroups(form, commands).map(
    ({ event, script, group }): JsonEntry => ({
      place: 'element',
      path: ['hooks', event],
      value: group,
      mark: group.hooks.some(({ type }) => type === 'mcp_tool') ? '"Hook"' : `${HOOKS}/${script}`,
    }),
  );
  return [
    member(['env', 'TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS'], '1'),
    { place: 'element', path: ['permissions', 'allow'], value: ALLOWED },
    // Otherwise the first session asks about the server, and runs without it when nobody answers.
    { place: 'element', path: ['enabledMcpjsonServers'], value: TEAM_SERVER },
    ...hooks,
  ];
}

/** The server of a project; the host starts it with the project as its working directory. */
const SERVER: JsonEntry = {
  place: 'member',
  path: ['mcpServers', TEAM_SERVER],
  value: { command: 'node', args: [`${HOOKS}/${SERVER_SCRIPT}`] },
};

export function readPayload({ from, version, form, configText }: PayloadOptions): Payload {
  const text = (path: string, content: string): PayloadFile => ({ path, bytes: Buffer.from(content), offered: true });
  return {
    files: [
      ...texts(from),
      ...scripts(from, version),
      text('.tool/config/workflow.yaml', configText),
      // The configuration names it for editors.
      { path: '.tool/config/workflow.schema.json', bytes: read(from, 'schemas/team.schema.json') },
      text('.tool/.gitignore', IGNORED),
    ],
    merged: [
      { path: '.mcp.json', entries: [SERVER] },
      { path: '.claude/settings.json', entries: settings(form) },
    ],
  };
}
