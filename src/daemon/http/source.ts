// Data source of the status server: state, single issues, refresh and changes.

import type { Steer } from '../rules/record.ts';
import type { Steered } from '../steering.ts';
import type { StateView } from '../view.ts';
import type { Page } from '../view-page.ts';

export type Source = {
  /** Without `page`: the first page. */
  readonly state: (page?: Page) => StateView;
  /** @param repository `<owner>/<repo>`, one of many; without it, the one that there is */
  readonly issue: (number: number, repository?: string) => Readonly<Record<string, unknown>> | undefined;
  readonly refresh: () => { readonly coalesced: boolean };
  /** A command that makes no sense is a rejected ToolError. */
  readonly steer: (command: Steer, issue: number, repository?: string) => Promise<Steered>;
  /** A text for the agent of an issue. */
  readonly tell: (issue: number, text: string, repository?: string) => Promise<Steered>;
  readonly onChange: (listener: () => void) => () => void;
  readonly now: () => number;
};
