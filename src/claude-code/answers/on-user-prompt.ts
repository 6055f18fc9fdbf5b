// The user's prompt: a command of the team is decided here, in code, and the model is told what comes next.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import type { EventOrigin, HostFacts, SpecStore } from '../../team/operations/context-parts.ts';
import type { CallerEvidence } from '../../team/operations/event-caller.ts';
import { type HookAnswer, type HostEvent, SILENT } from '../../team/operations/host-event.ts';
import type { TeamSettings } from '../../team/rules/settings.ts';
import { listed } from '../../team/rules/task-draft.ts';
import type { TeamCommand } from '../../team/select/work-decision.ts';
import { parseCommand } from '../rules/arguments.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';
import { changesOf, endedRunsOf, isTeamCommand, soundsLikeApproval, specApprovedBy } from '../rules/prompt.ts';
import { type BeginContext, beginWork, restartTeam } from './begin-work.ts';
import { answerPrompt, refuseCommand } from './prompt-answer.ts';
import { onRunsEnded } from './run-end.ts';
import { approveByPrompt, changeByPrompt, explainApproval } from './user-verdict.ts';

type PromptContext = BeginContext & Pick<CallerEvidence, 'startedAs'> & Pick<EventOrigin, 'isNested'>;

export async function onUserPrompt(context: PromptContext, event: HostEvent): Promise<HookAnswer> {
  // To a teammate its lead speaks, not the user.
  if (context.startedAs !== null) return SILENT;
  const ended = endedRunsOf(event.prompt);
  if (ended.length > 0) return onRunsEnded(context, ended);
  const approval = specApprovedBy(event.prompt);
  if (approval !== null) return approveByPrompt(context, event, approval);
  const changes = changesOf(event.prompt);
  if (changes !== null) return changeByPrompt(context, event, changes);
  if (!isTeamCommand(event.prompt)) return soundsLikeApproval(event.prompt) ? explainApproval(context, event) : SILENT;
  const settings = await context.settings();
  const parsed = parseCommand(event.prompt, Object.keys(settings.patterns));
  switch (parsed.kind) {
    case 'none':
      return SILENT;
    case 'invalid':
      return refuseCommand(parsed.problems);
    case 'command':
      return carryOut(context, event, parsed, settings);
  }
}

const NOT_WRITTEN = /\b(?:EACCES|EDQUOT|ENOSPC|EPERM|EROFS)\b/;

/** What cannot be written down, as on a full disk, is not begun; anything else is a fault of ours, and said as one. */
function unwritten(error: unknown): HookAnswer {
  const words = messageOf(error);
  if (!NOT_WRITTEN.test(words)) throw error;
  return refuseCommand([refusal(HOOK_CODES.team_log_unwritable, { said: words })]);
}

/** Without the team's tools there is no team, and no list of tasks to be gone through alone. */
function noServer({ project: { serverOffIn } }: { readonly project: HostFacts }): readonly Refusal[] {
  return serverOffIn.map((file) => refusal(HOOK_CODES.team_server_disabled, { file }));
}

async function carryOut(
  context: BeginContext,
  event: HostEvent,
  command: TeamCommand,
  settings: TeamSettings,
): Promise<HookAnswer> {
  const off = command.command === 'sync' ? [] : noServer(context);
  if (off.length > 0) return refuseCommand(off);
  switch (command.command) {
    case 'team-restart':
      return restartTeam(context, event, command.words, settings);
    case 'sync':
      return sync(context, command.words);
    case 'plan':
    case 'run':
    case 'build-fix':
      return beginWork(context, event, command, settings).catch(unwritten);
  }
}
async function sync(context: { readonly project: SpecStore }, id: string): Promise<HookAnswer> {
  const outcome = await context.project.sync(id, null);
  if (outcome.kind === 'refused') return refuseCommand([outcome.refusal]);
  const { status, met, judged, since, uncommitted, written } = outcome;
  return answerPrompt([
    `/tool:3-sync ${id}: ${met ? 'all requirements are met' : 'not all requirements are met'}; status: ${status}. Compared with the changes since ${since}:`,
    ...judged.map(({ id: one, test, missing }) =>
      missing.length === 0 ? `- ${one}: met, by ${test ?? ''}` : `- ${one}: not met: ${missing.join('; ')}`,
    ),
    ...(uncommitted.length === 0 ? [] : [`Not committed, so not compared: ${listed(uncommitted)}.`]),
    ...(written.length === 0 ? [] : [`Written: ${written.join(', ')}.`]),
    met
      ? 'Next: tell the user so, and update the documentation. The status and the result are already set: do not change them.'
      : 'Next: tell the user which requirements are not met and what is missing. Do not change the status or the result: the next sync does.',
  ]);
}
