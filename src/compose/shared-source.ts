// Source of the status server with a queue: the repositories of other coordinators beside those that this process acts for.

import type { Look } from '../daemon/rules/look.ts';
import type { PlacedView } from '../daemon/view.ts';
import { mergedView } from '../daemon/view-merge.ts';
import { FIRST_PAGE, type Page } from '../daemon/view-page.ts';
import type { OtherCoordinators, ShownOthers } from '../fleet/coordinator/other-coordinators.ts';
import type { SharedView, Wanted } from '../fleet/coordinator-wire.ts';
import type { Source } from '../web/source.ts';

/** @param repository `<host>/<owner>/<repo>` */
export type Deliver = (repository: string, event: string, look: Look) => void;

/** Of this process alone. */
export type OwnSource = Source & {
  /** Whether the file names one repository. */
  readonly isAlone: boolean;
  /** Whether `server.token` is set. */
  readonly hasToken: boolean;
  /** @param without repositories that are shown from elsewhere, `<host>/<owner>/<repo>` */
  readonly placed: (
    page: Page,
    without: readonly string[],
  ) => { readonly placed: PlacedView; readonly actsFor: number };
  /** Of these repositories, those that it acts for; `<host>/<owner>/<repo>`. */
  readonly shared: (repositories: readonly Wanted[], page: Page) => SharedView;
  readonly deliver: Deliver;
  /** Repositories that it does not act for. */
  readonly waited: () => readonly Wanted[];
  /** The full name of one that the file names; undefined: it names none. @param name `<owner>/<repo>`; without it, of the only one */
  readonly fullNameOf: (name: string | undefined) => string | undefined;
  /** `<owner>/<repo>` */
  readonly shortNameOf: (fullName: string) => string;
};

/** With what other coordinators act for. */
export function withOthers(own: OwnSource, others: OtherCoordinators): Source {
  const placeOf = (repository: string | undefined) => {
    const name = own.fullNameOf(repository);
    return name !== undefined && own.waited().some((one) => one.name === name) && others.has(name) ? name : undefined;
  };
  const stateWith = (page: Page, { rows, repositories, views }: ShownOthers) => {
    const { placed, actsFor } = own.placed(page, repositories);
    return mergedView(placed, views, rows, page, { isAlone: own.isAlone, actsFor });
  };
  return {
    ...own,
    state: (page = FIRST_PAGE) => stateWith(page, others.shown()),
    own: () => own.state(),
    refresh: () => {
      others.refresh();
      return own.refresh();
    },
    steer: async (command, issue, repository) => {
      const name = placeOf(repository);
      return name === undefined ? own.steer(command, issue, repository) : others.steer(command, issue, name);
    },
    tell: async (issue, text, repository) => {
      const name = placeOf(repository);
      return name === undefined ? own.tell(issue, text, repository) : others.tell(issue, text, name);
    },
    others: {
      state: async (page) => stateWith(page, await others.read(page)),
      passOn: (repository) => {
        const name = placeOf(repository);
        if (name === undefined) return undefined;
        return (request, response, hasToken) => others.passOn(name, request, response, hasToken);
      },
    },
  };
}
