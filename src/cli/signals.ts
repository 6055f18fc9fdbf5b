// The signals that end a command, with its exit code then.

export const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
export type EndSignal = keyof typeof SIGNAL_CODES;
export const SIGNALS: readonly EndSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
