// What the status server shows and may ask for.

import type { StateView } from '../engine/daemon/view.ts';

export type Source = {
  readonly state: () => StateView;
  readonly issue: (number: number) => Readonly<Record<string, unknown>> | undefined;
  readonly refresh: () => { readonly coalesced: boolean };
  readonly onChange: (listener: () => void) => () => void;
  readonly now: () => number;
};
