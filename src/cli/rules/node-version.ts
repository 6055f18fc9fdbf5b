// The versions of Node that this program runs on: those that load ES modules by `require`.

import { isVersionAtLeast } from '../../base/rules/version.ts';

/** As `engines` of the manifest says it. */
const OLDEST = ['20.19.0', '22.12.0'] as const;

/** The oldest version that would do in the place of this one; null: this one does. */
export function neededNode(version: string): string | null {
  const [first, second] = OLDEST;
  if (isVersionAtLeast(version, second)) return null;
  if (!isVersionAtLeast(version, '21.0.0')) return isVersionAtLeast(version, first) ? null : first;
  return second;
}
