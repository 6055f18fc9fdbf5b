// Data source of the status server: state, single issues with their outputs, refresh and changes.

import type { OutputPart } from '../ports.ts';
import type { IssueHistory } from '../rules/issue-history.ts';
import type { Steer } from '../rules/record.ts';
import type { Steered } from '../steering.ts';
import type { StateView } from '../view.ts';
import type { IssueDetails } from '../view-issue.ts';
import type { Page } from '../view-page.ts';

export type OutputAsked = { readonly of?: string | undefined; readonly from?: number | undefined };

export type Source = {
  /** Without `page`: the first page. */
  readonly state: (page?: Page) => StateView;
  readonly issue: (number: number) => IssueDetails | undefined;
  readonly history: (issue: number) => IssueHistory;
  /** A part of an attempt's output; undefined: there is none. */
  readonly output: (issue: number, asked?: OutputAsked) => OutputPart | undefined;
  readonly refresh: () => { readonly coalesced: boolean };
  /** A command that makes no sense is a rejected ToolError. */
  readonly steer: (command: Steer, issue: number) => Promise<Steered>;
  /** A text for the agent of an issue. */
  readonly tell: (issue: number, text: string) => Promise<Steered>;
  readonly onChange: (listener: () => void) => () => void;
  readonly now: () => number;
};
