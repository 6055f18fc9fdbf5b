// Reports that a log may have grown: on events of the file system, and at intervals in case no event comes.

import { type FSWatcher, watch } from 'node:fs';

/** Events that come within so many ms are one. */
const TOGETHER_MS = 30;

export type LogWatch = { readonly close: () => void };

/** Calls `onChange` after something in the directory changed, and every `everyMs` whatever happened; never at once. */
export function watchLog(directory: string, everyMs: number, onChange: () => void): LogWatch {
  let watcher: FSWatcher | undefined;
  let soon: NodeJS.Timeout | undefined;
  const tick = setInterval(onChange, everyMs);
  try {
    watcher = watch(directory, () => {
      soon ??= setTimeout(() => {
        soon = undefined;
        onChange();
      }, TOGETHER_MS);
    });
    watcher.on('error', () => watcher?.close());
  } catch {
    // No watches are left, or there are none on this file system: looking now and then has to do.
  }
  return {
    close: () => {
      watcher?.close();
      clearInterval(tick);
      clearTimeout(soon);
    },
  };
}
