// The user's prompt: a command of the team is decided here, in code, and the model is told what comes next.

import { statusOfSpec } from '../../domain/spec/spec.ts';
import { parseCommand } from '../../domain/team/arguments.ts';
import { leadBrief, rolesToStart, spawnParameters } from '../../domain/team/brief.ts';
import { approvalOf, isCommand } from '../../domain/team/prompt.ts';
import type { Phase } from '../../domain/team/role.ts';
import type { TeamSettings } from '../../domain/team/settings.ts';
import { listed } from '../../domain/team/task-draft.ts';
import type { TeamLog } from '../ports.ts';
import { withStanding } from './context.ts';
import { type Command, decideWork, propose } from './deciding.ts';
import { type HookAnswer, type HostEvent, SILENT } from './event.ts';
import type { HookContext } from './hook-context.ts';
import { serverTool } from './spawn.ts';

function say(lines: readonly string[]): HookAnswer {
  return { kind: 'context', text: `toolcrew: ${lines.join('\n')}` };
}

function stop(problems: readonly string[]): HookAnswer {
  return say([
    'the command cannot be carried out. Tell the user exactly this, and do nothing else:',
    ...problems.map((one) => `- ${one}`),
  ]);
}

export async function onPrompt(context: HookContext, event: HostEvent): Promise<HookAnswer> {
  // To a teammate its lead speaks, not the user.
  if (context.startedAs !== null) return SILENT;
  const approval = approvalOf(event.prompt);
  if (approval !== null) return approve(context, event, approval);
  if (!isCommand(event.prompt)) return SILENT;
  const settings = await context.settings();
  const parsed = parseCommand(event.prompt, Object.keys(settings.patterns));
  switch (parsed.kind) {
    case 'none':
      return SILENT;
    case 'invalid':
      return stop(parsed.problems);
    case 'command':
      return carryOut(context, event, parsed, settings);
  }
}

async function carryOut(
  context: HookContext,
  event: HostEvent,
  command: Command,
  settings: TeamSettings,
): Promise<HookAnswer> {
  switch (command.command) {
    case 'team-restart':
      return restart(context, event, command.words, settings);
    case 'sync':
      return sync(context, command.words);
    case 'plan':
    case 'run':
    case 'build-fix':
      return begin(context, command, settings);
  }
}

const TYPED: Readonly<Record<Phase, string>> = { plan: '1-plan', run: '2-run', debug: 'build-fix' };

/** What follows when all tasks are done. */
const AFTER: Readonly<Record<Phase, readonly string[]>> = {
  plan: [
    'Then put the results together into .tool/specs/SPEC-<NAME>-<NNN>/spec.md, plan.md and acceptance.md (status: draft; the skill tool-workflow-spec says how, `tool spec check <id>` what is wrong), and ask the user to approve it.',
  ],
  run: ['Then see that the tests pass, and tell the user what was done for each requirement.'],
  debug: ['Then tell the user the cause that was proven, with its evidence, and the fix.'],
};

async function begin(context: HookContext, command: Command, settings: TeamSettings): Promise<HookAnswer> {
  const decided = await decideWork(context, command, settings);
  if (decided.kind === 'refused') return stop(decided.problems);
  const { work, decision, reasons, drafts } = decided;
  if (decision.mode !== 'team')
    return say([
      `/tool:${TYPED[work.phase]} in sub-agent mode.`,
      ...reasons.map((one) => `- ${one}`),
      'Next: do these one at a time, each with one sub-agent, and give each the results of those before:',
      ...drafts.map(
        ({ subject, owner, description }, index) => `${index + 1}. team-${owner}: ${subject}. ${description}`,
      ),
      ...AFTER[work.phase],
    ]);
  const problem = await propose(context, decided);
  if (problem !== null) return stop([problem]);
  return say([
    `/tool:${TYPED[work.phase]} in team mode, pattern ${decision.pattern ?? 'none'}: ${decision.roles.join(', ')}.`,
    ...reasons.map((one) => `- ${one}`),
    `Next, with the tools of the MCP server "team" (${serverTool('…', context.host())}):`,
    `1. TeamCreate {"team_name":"${work.team}"}. It answers with the tasks and the next calls.`,
    '2. Task for each teammate that it names; make the calls that these answer with, all in one message.',
    '3. Wait for them and answer what they ask; you write nothing but .tool/specs/** yourself.',
    ...AFTER[work.phase].map((line, index) => `${index + 4}. ${line}`),
    `${AFTER[work.phase].length + 4}. SendMessage {"recipient":"all","type":"shutdown_request","content":"<why>"}, then TeamDelete {"team_name":"${work.team}"}.`,
    'If TeamCreate fails, do the tasks one at a time with sub-agents instead.',
  ]);
}

async function restart(
  context: HookContext,
  event: HostEvent,
  wanted: string,
  settings: TeamSettings,
): Promise<HookAnswer> {
  return withStanding(context.teams, async (logs) => {
    const names = logs.map((log) => log.state.team);
    const log =
      wanted === '' ? (logs.length === 1 ? logs[0] : undefined) : logs.find((one) => one.state.team === wanted);
    if (log === undefined)
      return stop([
        names.length === 0
          ? 'no team stands: there is nothing to restart'
          : `team: expected one of ${names.join(', ')}, got ${wanted === '' ? 'none' : wanted}`,
      ]);
    const { refusal } = await log.append({
      type: 'restarted',
      session: event.session,
      key_hash: null,
      keep: settings.fallback.preserveProgress,
    });
    if (refusal !== null) return stop([refusal]);
    return say([
      `team ${log.state.team} was restarted, and you lead it now; ${settings.fallback.preserveProgress ? 'what was completed stays completed' : 'every task starts over (preserve_progress: false)'}.`,
      leadBrief(log.state),
      'Register each again with Task:',
      ...rolesToStart(log.state).map(
        (role) =>
          `- Task ${JSON.stringify(spawnParameters(log.state.team, role, `Do the open tasks that are meant for ${role}.`))}`,
      ),
    ]);
  });
}

async function sync(context: HookContext, id: string): Promise<HookAnswer> {
  const outcome = await context.project.sync(id, null);
  if (outcome.kind === 'refused') return stop(outcome.reasons);
  const { status, met, judged, since, uncommitted, written } = outcome;
  return say([
    `/tool:3-sync ${id}: ${met ? 'all of it is met' : 'not all of it is met'}; status: ${status}. Held against the changes since ${since}:`,
    ...judged.map(({ id: one, test, missing }) =>
      missing.length === 0 ? `- ${one}: met, by ${test ?? ''}` : `- ${one}: not met: ${missing.join('; ')}`,
    ),
    ...(uncommitted.length === 0 ? [] : [`Not looked at, since they are not committed: ${listed(uncommitted)}.`]),
    ...(written.length === 0 ? [] : [`Written: ${written.join(', ')}.`]),
    met
      ? 'Next: tell the user so, and bring the documentation up to date. The status and the result are set already; do not change them.'
      : 'Next: tell the user what is not met and what is missing. Do not change the status or the result: the next sync does.',
  ]);
}

function awaits(log: TeamLog, session: string): boolean {
  const { state } = log;
  return state.session === 'awaiting_approval' && (state.lead.session === null || state.lead.session === session);
}

async function approve(context: HookContext, event: HostEvent, wanted: string): Promise<HookAnswer> {
  return withStanding(context.teams, async (logs) => {
    const waits = (id: string) => {
      const status = statusOfSpec(context.project.spec(id) ?? '');
      return status === 'draft' || status === 'awaiting_approval';
    };
    const drafts = context.project.specs().filter(waits);
    const log = logs.find((one) => awaits(one, event.session));
    const [only] = drafts;
    const id = wanted !== '' ? wanted : drafts.length === 1 ? only : undefined;
    // Without a team that waits for it, a lone "approve" is about something else.
    if (log === undefined && wanted === '') return SILENT;
    if (id === undefined)
      return stop([
        `which SPEC is approved? There is ${drafts.join(', ') || 'none that is a draft'}: answer "approve <id>"`,
      ]);
    const problem = context.project.approve(id);
    if (problem !== null) return stop([problem]);
    if (log !== undefined)
      await log.append({ type: 'moved', event: 'approved', reason: `the user approved ${id}`, by: 'user' });
    return say([
      `${id} is approved, by the user's own word.`,
      ...(log === undefined
        ? []
        : [
            `Next: SendMessage {"recipient":"all","type":"shutdown_request","content":"approved"}, TeamDelete {"team_name":"${log.state.team}"}.`,
          ]),
      `Then tell the user: /clear, and \`/tool:2-run ${id} --team\` in the fresh context.`,
    ]);
  });
}
