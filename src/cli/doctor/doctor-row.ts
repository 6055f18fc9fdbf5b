// One line of `tool doctor`.

/** `warn`: the daemon runs all the same. */
export type Check = {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly says: string;
  /** What mends it; null when nothing needs to be mended. */
  readonly mend: string | null;
};

export const ok = (name: string, says: string): Check => ({ name, status: 'ok', says, mend: null });
export const warn = (name: string, says: string, mend: string): Check => ({ name, status: 'warn', says, mend });
export const fail = (name: string, says: string, mend: string): Check => ({ name, status: 'fail', says, mend });
