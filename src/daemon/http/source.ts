// Data source of the status server: state, single issues, refresh and changes.

import type { StateView } from '../view.ts';
import type { Page } from '../view-page.ts';

export type Source = {
  /** Without `page`: the first page. */
  readonly state: (page?: Page) => StateView;
  readonly issue: (number: number) => Readonly<Record<string, unknown>> | undefined;
  readonly refresh: () => { readonly coalesced: boolean };
  readonly onChange: (listener: () => void) => () => void;
  readonly now: () => number;
};
