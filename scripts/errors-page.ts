// docs/errors.md: all parts of the error table, room by room.

import { AGENT_CODES } from '../src/agents/rules/agent-codes.ts';
import { BASE_CODES } from '../src/base/rules/base-codes.ts';
import { type Code, KINDS } from '../src/base/rules/codes.ts';
import { HOOK_CODES } from '../src/claude-code/rules/hook-codes.ts';
import { CLI_CODES } from '../src/cli/rules/cli-codes.ts';
import { DOCTOR_CODES } from '../src/cli/rules/doctor-codes.ts';
import { NOTICE_CODES } from '../src/cli/rules/notice-codes.ts';
import { COMPOSE_CODES } from '../src/compose/rules/compose-codes.ts';
import { CONFIG_CODES } from '../src/daemon/rules/codes/config-codes.ts';
import { FOLLOW_CODES } from '../src/daemon/rules/codes/follow-codes.ts';
import { GITHUB_CODES } from '../src/daemon/rules/codes/github-codes.ts';
import { HTTP_CODES } from '../src/daemon/rules/codes/http-codes.ts';
import { QUEUE_CODES } from '../src/daemon/rules/codes/queue-codes.ts';
import { REVIEW_CODES } from '../src/daemon/rules/codes/review-codes.ts';
import { SERIAL_CODES } from '../src/daemon/rules/codes/serial-codes.ts';
import { WORK_CODES as ATTEMPT_CODES } from '../src/daemon/rules/codes/work-codes.ts';
import { WORKSPACES_CODES } from '../src/daemon/rules/codes/workspaces-codes.ts';
import { FLEET_CODES } from '../src/fleet/rules/fleet-codes.ts';
import { GATE_CODES } from '../src/gate/rules/gate-codes.ts';
import { GIT_CODES } from '../src/git/rules/git-codes.ts';
import { GUARD_CODES } from '../src/guard/rules/guard-codes.ts';
import { INSTALL_CODES } from '../src/install/rules/install-codes.ts';
import { LEAD_CODES } from '../src/team/rules/codes/lead-codes.ts';
import { LOG_CODES } from '../src/team/rules/codes/log-codes.ts';
import { MESSAGES_CODES } from '../src/team/rules/codes/messages-codes.ts';
import { OPERATIONS_CODES } from '../src/team/rules/codes/operations-codes.ts';
import { SPEC_CODES } from '../src/team/rules/codes/spec-codes.ts';
import { TASK_CODES } from '../src/team/rules/codes/tasks-codes.ts';
import { WORK_CODES } from '../src/team/rules/codes/work-codes.ts';
import { WRITES_CODES } from '../src/team/rules/codes/writes-codes.ts';

type Part = Readonly<Record<string, Code>>;

/** Parts of the table by room, in the order of the rooms, and by the file that defines each. */
export const ROOMS: Readonly<Record<string, Readonly<Record<string, Part>>>> = {
  base: {
    'src/base/rules/base-codes.ts': BASE_CODES,
  },
  git: {
    'src/git/rules/git-codes.ts': GIT_CODES,
  },
  guard: {
    'src/guard/rules/guard-codes.ts': GUARD_CODES,
  },
  gate: {
    'src/gate/rules/gate-codes.ts': GATE_CODES,
  },
  agents: {
    'src/agents/rules/agent-codes.ts': AGENT_CODES,
  },
  team: {
    'src/team/rules/codes/tasks-codes.ts': TASK_CODES,
    'src/team/rules/codes/messages-codes.ts': MESSAGES_CODES,
    'src/team/rules/codes/operations-codes.ts': OPERATIONS_CODES,
    'src/team/rules/codes/writes-codes.ts': WRITES_CODES,
    'src/team/rules/codes/work-codes.ts': WORK_CODES,
    'src/team/rules/codes/lead-codes.ts': LEAD_CODES,
    'src/team/rules/codes/log-codes.ts': LOG_CODES,
    'src/team/rules/codes/spec-codes.ts': SPEC_CODES,
  },
  daemon: {
    'src/daemon/rules/codes/work-codes.ts': ATTEMPT_CODES,
    'src/daemon/rules/codes/follow-codes.ts': FOLLOW_CODES,
    'src/daemon/rules/codes/serial-codes.ts': SERIAL_CODES,
    'src/daemon/rules/codes/review-codes.ts': REVIEW_CODES,
    'src/daemon/rules/codes/config-codes.ts': CONFIG_CODES,
    'src/daemon/rules/codes/github-codes.ts': GITHUB_CODES,
    'src/daemon/rules/codes/workspaces-codes.ts': WORKSPACES_CODES,
    'src/daemon/rules/codes/http-codes.ts': HTTP_CODES,
    'src/daemon/rules/codes/queue-codes.ts': QUEUE_CODES,
  },
  fleet: {
    'src/fleet/rules/fleet-codes.ts': FLEET_CODES,
  },
  'claude-code': {
    'src/claude-code/rules/hook-codes.ts': HOOK_CODES,
  },
  install: {
    'src/install/rules/install-codes.ts': INSTALL_CODES,
  },
  compose: {
    'src/compose/rules/compose-codes.ts': COMPOSE_CODES,
  },
  cli: {
    'src/cli/rules/cli-codes.ts': CLI_CODES,
    'src/cli/rules/doctor-codes.ts': DOCTOR_CODES,
    'src/cli/rules/notice-codes.ts': NOTICE_CODES,
  },
};

const TITLES: Readonly<Record<string, string>> = {
  base: 'Files, settings, processes and the network',
  git: 'Git and work trees',
  guard: 'The write guard',
  gate: 'The quality gate',
  agents: 'Running an agent',
  team: 'Teams',
  daemon: 'The daemon',
  fleet: 'A fleet of workers',
  'claude-code': 'Hooks and Claude Code',
  install: 'Installing into a project',
  compose: 'Starting a program',
  cli: 'Commands',
};

const INTRODUCTION = `# Errors

Every refusal, failure, problem and warning has a code. A text for people or for a model ends its first line with the code in brackets.

| output | place of the code |
| --- | --- |
| standard error of a command | \`tool: <message> <help> (<code>)\` |
| standard output of a command with \`--json\` that fails | \`{"error":{"code","message","values","help","causes"}}\` |
| result of an operation of the team server | the end of the first line; \`_meta["toolcrew/error"]\` has \`code\` and \`values\` |
| answer of a hook | the end of the first line |
| warning of a command that goes on | \`tool: warning: <message> <help> (<code>)\`, in a phase after \`[lead]\` |
| row of \`tool doctor\` | \`code\` in \`--json\`, where this table has the finding; the name of the row identifies all others |

Lines of progress have no code: they report a step, such as a start, an assignment or figures of the gate. A failed internal check is
\`unexpected_error\`.

\`{name}\` is a value. Square brackets hold a part that is left out when its value is missing. A value with \`?\` is optional.

| kind | exit code of the command |
| --- | --- |
${Object.entries(KINDS)
  .map(
    ([kind, exit]) =>
      `| \`${kind}\` | ${kind === 'problem' ? 'that of the code that lists it' : kind === 'warning' ? 'none' : exit} |`,
  )
  .join('\n')}
`;

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('*', '\\*').replaceAll('<', '&lt;').replaceAll('\n', '<br>').trim();
}

function valuesOf({ values = {}, may = {} }: Code): string {
  const named = [...Object.keys(values), ...Object.keys(may).map((name) => `${name}?`)];
  return named.map((name) => `\`${name}\``).join(', ');
}

function rowOf(one: Code): string {
  const code = `<a id="${one.code}"></a>\`${one.code}\``;
  return `| ${[code, one.kind, cell(one.message), cell(one.help ?? ''), valuesOf(one)].join(' | ')} |`;
}

const HEAD = '| code | kind | message | what to do | values |\n| --- | --- | --- | --- | --- |';

function table([file, part]: readonly [string, Part]): string {
  return `\nDefined in \`${file}\`:\n\n${HEAD}\n${Object.values(part).map(rowOf).join('\n')}\n`;
}

function section([room, parts]: readonly [string, Readonly<Record<string, Part>>]): string {
  return `\n## ${TITLES[room] ?? room}\n${Object.entries(parts).map(table).join('')}`;
}

export function errorsPage(): string {
  return `${INTRODUCTION}${Object.entries(ROOMS).map(section).join('')}`;
}
