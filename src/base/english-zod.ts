// Zod without its messages in 60 languages, which take a third of the time that it takes to load.

import { loadWithout } from './load-without.ts';

/** What imports zod later gets this one, which speaks English. */
export function loadEnglishZod(): void {
  loadWithout('zod', 'zod/v4/locales', {});
}
