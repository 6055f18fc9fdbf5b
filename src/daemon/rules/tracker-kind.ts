// Hosting services that the daemon can work with: values of `tracker.kind`.

export const TRACKER_KINDS = ['github'] as const;

export type TrackerKind = (typeof TRACKER_KINDS)[number];

export const DEFAULT_TRACKER = 'github' satisfies TrackerKind;
