// Source of the status server: the repositories that this process acts for.

import { systemClock } from '../base/clock.ts';
import { failure } from '../base/rules/errors.ts';
import { hostOf } from '../daemon/github/clone-url.ts';
import { WORK_CODES } from '../daemon/rules/codes/work-codes.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import { readAttemptOutput } from '../daemon/runners/attempt-output.ts';
import type { SlotShares } from '../daemon/slot-shares.ts';
import { placedView } from '../daemon/view.ts';
import { issueDetails } from '../daemon/view-issue.ts';
import type { Page } from '../daemon/view-page.ts';
import type { FleetView, ProcessView, ViewSource } from '../daemon/view-source.ts';
import type { Source } from '../web/source.ts';
import type { Member } from './member.ts';
import type { OpenRepository } from './repository-parts.ts';
import type { OwnSource } from './shared-source.ts';

type OpenMember = Member & { readonly opened: OpenRepository };

export type OwnSourceParts = {
  readonly common: () => ProcessView;
  readonly workflow: () => Workflow;
  /** Null: there is one repository. */
  readonly shares: SlotShares | null;
  readonly members: () => readonly Member[];
  /** @param name `<owner>/<repo>` */
  readonly memberOf: (name: string) => Member | undefined;
  readonly refresh: Source['refresh'];
  readonly onChange: Source['onChange'];
};

/** `<host>/<owner>/<repo>`, as leases have it. */
export function fullName({ name, workflow }: Pick<Member, 'name' | 'workflow'>): string {
  return `${hostOf(workflow().tracker.apiUrl)}/${name}`;
}

function problemOf({ problem }: Member): string {
  return problem ?? 'it is being opened';
}

function isOpen(member: Member): member is OpenMember {
  return member.opened !== null;
}

function lower(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => name.toLowerCase()));
}

export function sourceOf(parts: OwnSourceParts): OwnSource {
  const { common, members, workflow, shares } = parts;
  /** Places by name: all coordinators with the same list have the same. */
  const ranks = (): ReadonlyMap<string, number> => {
    const names = members().map(({ name }) => name.toLowerCase());
    return new Map(names.sort().map((name, rank) => [name, rank]));
  };
  const rankIn = (all: ReadonlyMap<string, number>) => (name: string) => all.get(name.toLowerCase()) ?? 0;
  const viewOf = (isShown: (member: Member) => boolean, rankOf = rankIn(ranks())): ViewSource | FleetView => {
    const shown = members().filter(isShown);
    const views = shown.filter(isOpen).map(({ opened }) => opened.view());
    const [alone] = views;
    if (shares === null && alone !== undefined) return { ...common(), ...alone };
    const broken = shown.flatMap((member) =>
      member.opened === null ? [{ repository: member.name, problem: problemOf(member) }] : [],
    );
    const spentOn = (day: string) => shares?.budget(day).spent ?? 0;
    return { ...common(), workflow: workflow(), repositories: views, broken, rankOf, spentOn };
  };
  const whole = (page?: Page) =>
    placedView(
      viewOf(() => true),
      page,
    ).view;
  const named = (repository: string | undefined): Member | undefined => {
    if (repository !== undefined) return parts.memberOf(repository);
    return shares === null ? members()[0] : undefined;
  };
  const of = (repository: string | undefined): OpenRepository => {
    const found = named(repository);
    if (found?.opened) return found.opened;
    if (found !== undefined)
      throw failure(WORK_CODES.repository_not_open, { repository: found.name, said: problemOf(found) });
    const known = members().map(({ name }) => name);
    throw failure(WORK_CODES.repository_not_known, { got: repository ?? 'none', known });
  };
  return {
    state: whole,
    issue: (number, repository) => issueDetails({ ...common(), ...of(repository).view() }, number),
    history: (issue, repository) => of(repository).histories.of(issue),
    output: (issue, asked, repository) => readAttemptOutput(of(repository).view().workflow.stateDir, issue, asked),
    refresh: parts.refresh,
    steer: async (command, issue, repository) => of(repository).orchestrator.steering.steer(command, issue),
    tell: async (issue, text, repository) => of(repository).orchestrator.steering.tell(issue, text),
    onChange: parts.onChange,
    now: systemClock.now,
    isAlone: shares === null,
    hasToken: workflow().server.token !== null,
    placed: (page, without) => {
      const elsewhere = lower(without);
      const placed = placedView(
        viewOf((member) => member.opened !== null || !elsewhere.has(fullName(member).toLowerCase())),
        page,
      );
      return { placed, actsFor: members().filter(isOpen).length };
    },
    shared: (repositories, page) => {
      const wanted = new Map(repositories.map(({ name, rank }) => [name.toLowerCase(), rank]));
      const given = members().filter((member) => isOpen(member) && wanted.has(fullName(member).toLowerCase()));
      const rankOf = (name: string) => {
        const member = parts.memberOf(name);
        return (member && wanted.get(fullName(member).toLowerCase())) ?? 0;
      };
      const view = placedView(
        viewOf((member) => given.includes(member), rankOf),
        page,
      );
      return { repositories: given.map(fullName), view, isAlone: shares === null };
    },
    deliver: (repository, event, look) => {
      const wanted = repository.toLowerCase();
      const member = members().find((one) => fullName(one).toLowerCase() === wanted);
      member?.opened?.orchestrator.looks.deliver(event, look);
    },
    waited: () => {
      const closed = members().filter((member) => !isOpen(member));
      if (closed.length === 0) return [];
      const rankOf = rankIn(ranks());
      return closed.map((member) => ({ name: fullName(member), rank: rankOf(member.name) }));
    },
    fullNameOf: (name) => {
      const member = named(name);
      return member && fullName(member);
    },
    shortNameOf: (full) =>
      members().find((member) => fullName(member).toLowerCase() === full.toLowerCase())?.name ?? full,
  };
}
