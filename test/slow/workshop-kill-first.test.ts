// A lead that is killed at its git commands: every third of them, from the first on.

import { testKills } from '../support/workshop-kills.ts';

await testKills(1, 3);
