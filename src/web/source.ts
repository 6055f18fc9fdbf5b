// Data source of the status server: state, single issues with their outputs, refresh and changes.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../base/rules/codes.ts';
import type { OutputPart } from '../daemon/ports.ts';
import type { IssueHistory } from '../daemon/rules/issue-history.ts';
import type { Steer } from '../daemon/rules/record.ts';
import type { Steered } from '../daemon/steering.ts';
import type { StateView } from '../daemon/view.ts';
import type { IssueDetails } from '../daemon/view-issue.ts';
import type { Page } from '../daemon/view-page.ts';

export type OutputAsked = { readonly of?: string | undefined; readonly from?: number | undefined };

/** Other coordinators, which act for repositories that are shown here as well. */
export type Others = {
  /** The state with what they show of a page now. */
  readonly state: (page: Page) => Promise<StateView>;
  /** Has whoever acts for the repository answer; undefined: it is this process, or nobody. */
  readonly passOn: (repository: string | undefined) => PassOn | undefined;
};

/** Gives why nobody answers; null: it is answered. @param hasToken whether commands are taken */
export type PassOn = (request: IncomingMessage, response: ServerResponse, hasToken: boolean) => Promise<Refusal | null>;

export type Source = {
  /** Without `page`: the first page. */
  readonly state: (page?: Page) => StateView;
  /** What this process acts for; absent: that is all. */
  readonly own?: () => StateView;
  readonly others?: Others;
  /** @param repository `<owner>/<repo>`, one of many; without it, the one that there is: else a rejected ToolError */
  readonly issue: (number: number, repository?: string) => IssueDetails | undefined;
  readonly history: (issue: number, repository?: string) => IssueHistory;
  /** A part of an attempt's output; undefined: there is none. */
  readonly output: (issue: number, asked?: OutputAsked, repository?: string) => OutputPart | undefined;
  readonly refresh: () => { readonly coalesced: boolean };
  /** A command that makes no sense is a rejected ToolError. */
  readonly steer: (command: Steer, issue: number, repository?: string) => Promise<Steered>;
  /** A text for the agent of an issue. */
  readonly tell: (issue: number, text: string, repository?: string) => Promise<Steered>;
  readonly onChange: (listener: () => void) => () => void;
  readonly now: () => number;
};
