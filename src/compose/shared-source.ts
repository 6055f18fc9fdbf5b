// Source of the status server with a queue: the repositories of other coordinators beside those that this process acts for.

import { mergedView } from '../daemon/view-merge.ts';
import { FIRST_PAGE, type Page } from '../daemon/view-page.ts';
import type { OtherCoordinators, ShownOthers } from '../fleet/coordinator/other-coordinators.ts';
import type { Source } from '../web/source.ts';
import type { OwnSource } from './own-source.ts';

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
