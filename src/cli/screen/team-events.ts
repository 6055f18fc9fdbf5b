// `tool team events`: a team's log in words, one line a record; also what was refused, by whom and why.

import { padColumns } from '../../base/display-width.ts';
import { watchLog } from '../../base/files/watch-log.ts';
import { failure } from '../../base/rules/errors.ts';
import { nearest } from '../../base/rules/nearest.ts';
import type { Stored } from '../../base/rules/stored-record.ts';
import { got } from '../../base/rules/text.ts';
import { TeamHistory } from '../../team/log/team-history.ts';
import { lineOf } from '../../team/rules/log/content-line.ts';
import type { TeamRecord } from '../../team/rules/log/record.ts';
import type { TeamState } from '../../team/rules/log/state.ts';
import { EVERYBODY, LEAD } from '../../team/rules/message.ts';
import { type FoundTeam, findTeam, warnOfTornLines } from '../find-team.ts';
import { jsonText } from '../json-text.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { namesIn, RECORD_TYPES, recordLine } from '../rules/record-line.ts';
import { paints } from './paint.ts';
import type { Paint } from './table.ts';

export type EventsOptions = {
  readonly json?: boolean;
  readonly follow?: boolean;
  /** Only what is by, for or about this member. */
  readonly member?: string;
  /** Only records of this type. */
  readonly type?: string;
};

const LOOK_MS = 1000;
const WHO_COLUMNS = 14;

/** As the clock on the wall shows it, with the date. */
function timeOf(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19).replace('T', ' ');
}

function paintOf(record: TeamRecord): Paint {
  if (record.type === 'decision' && record.decision !== 'accept') return paints.bad;
  if (record.type === 'gate_measured') return record.ok ? paints.good : paints.bad;
  if (record.type === 'member_seen' || record.type === 'mail_seen') return paints.quiet;
  return record.type === 'message_sent' ? paints.note : String;
}

function line(record: Stored<TeamRecord>, refusal: string | null, state: TeamState): string {
  const { who, what } = recordLine(record, state, refusal === null);
  const words =
    refusal === null
      ? paintOf(record)(what)
      : `${paints.quiet(what)}  ${paints.bad(`✖ does not count: ${lineOf(refusal)}`)}`;
  return `${paints.quiet(timeOf(record.at))}  ${paints.name(padColumns(who, WHO_COLUMNS))}  ${words}\n`;
}

function checkType(type: string | undefined): void {
  if (type === undefined || RECORD_TYPES.includes(type)) return;
  const close = nearest(type, RECORD_TYPES);
  throw failure(CLI_CODES.option_invalid, {
    option: '--type',
    expected: `one of ${RECORD_TYPES.join(', ')}`,
    got: got(type),
    ...(close === undefined ? {} : { near: close }),
  });
}

async function checkMember(member: string, { directory }: FoundTeam): Promise<void> {
  const history = new TeamHistory({ directory, from: 'snapshot' });
  const names = [...history.state.members.keys(), LEAD];
  await history.close();
  if (names.includes(member)) return;
  const close = nearest(member, names);
  throw failure(CLI_CODES.option_invalid, {
    option: '--member',
    expected: `one of ${names.join(', ')}`,
    got: got(member),
    ...(close === undefined ? {} : { near: close }),
  });
}

/** @param root the project, that of the checkout in a team's worktree */
export async function eventsCommand(root: string, name: string | undefined, options: EventsOptions): Promise<void> {
  checkType(options.type);
  const team = await findTeam(root, name);
  const { member, type } = options;
  // Whoever is followed may come yet.
  if (member !== undefined && options.follow !== true) await checkMember(member, team);
  const isMeant = (record: TeamRecord) => {
    if (type !== undefined && record.type !== type) return false;
    if (member === undefined) return true;
    const names = namesIn(record);
    return names.includes(member) || names.includes(EVERYBODY);
  };
  const history = new TeamHistory({
    directory: team.directory,
    from: 'beginning',
    onRecord: (record, refusal, state) => {
      if (!isMeant(record)) return;
      process.stdout.write(
        options.json === true
          ? `${jsonText({ ...record, counts: refusal === null, refusal })}\n`
          : line(record, refusal, state),
      );
    },
  });
  try {
    if (options.follow === true) await follow(history, team);
    warnOfTornLines(history, team);
  } finally {
    await history.close();
  }
}

/** Goes on until the team has been deleted, since nothing comes after that, or nobody reads any more. */
async function follow(history: TeamHistory, team: FoundTeam): Promise<void> {
  const isOver = () => team.isArchived || history.state.session === 'deleted';
  if (isOver()) return;
  await new Promise<void>((resolve, reject) => {
    const watch = watchLog(team.directory, LOOK_MS, () => {
      try {
        history.refresh();
        if (isOver()) end();
      } catch (error) {
        close();
        reject(error);
      }
    });
    const close = () => {
      watch.close();
      process.stdout.off('error', end);
    };
    const end = () => {
      close();
      resolve();
    };
    process.stdout.on('error', end);
  });
}
