// One hook from its input to its exit code: 0 accepts, 2 rejects with a reason on standard error. What answers is loaded
// when there is something to answer: most events of most sessions are none of a team.

import { readFileSync } from 'node:fs';
import { teamNames, teamsDirectory } from '../adapters/event-log/team-names.ts';
import { findProject } from '../adapters/project.ts';
import { messageOf } from '../domain/errors.ts';
import { asLine } from '../domain/text.ts';
import type { HostEvent, HostEventName } from '../engine/team/event.ts';
import { parseEvent } from './parse-event.ts';
import type { Respond } from './respond.ts';

export type Hook = {
  readonly event: HostEventName;
  readonly load: () => Promise<{ readonly respond: Respond }>;
  /** Whether it has something to say about that event; absent: where a team is. */
  readonly concerns?: (event: HostEvent, hasTeam: () => boolean) => boolean;
  /** A failure of its own stops what it was asked about: for what must not go through unseen. */
  readonly failsClosed?: (event: HostEvent) => boolean;
};

function say(words: string): void {
  process.stderr.write(`${words}\n`);
}

/** Runs a hook on standard input; sets the exit code. */
export function runHook(hook: Hook): void {
  // Whatever goes wrong is said and decided in there.
  void run(hook);
}

/** What came on standard input; nothing where that cannot be read, which is no event. */
function readInput(): string {
  try {
    return readFileSync(0, 'utf8');
  } catch {
    return '';
  }
}

function isConcerned({ concerns }: Hook, event: HostEvent): boolean {
  const hasTeam = () =>
    teamNames(teamsDirectory(findProject(event.cwd, process.env.CLAUDE_PROJECT_DIR).main)).length > 0;
  return concerns === undefined ? hasTeam() : concerns(event, hasTeam);
}

async function run(hook: Hook): Promise<void> {
  const parsed = parseEvent(readInput(), hook.event, process.cwd());
  if (!parsed.ok) {
    say(`toolcrew: ${hook.event}: ${asLine(parsed.problem)}`);
    return;
  }
  const { event } = parsed;
  try {
    if (!isConcerned(hook, event)) return;
    const { respond } = await hook.load();
    await respond(parsed, say);
  } catch (error) {
    const closed = hook.failsClosed?.(event) === true;
    say(
      closed
        ? `toolcrew: ${hook.event} cannot tell whether this may happen, so it does not: ${asLine(messageOf(error))}. \`tool doctor\` says more`
        : `toolcrew: ${hook.event} failed and lets this go on: ${asLine(messageOf(error))}`,
    );
    if (closed) process.exitCode = 2;
  }
}
