// A lead that is killed at its git commands: every third of them, from the third on.

import { testKills } from '../support/workshop-kills.ts';

await testKills(3, 3);
