// A lead that is killed at its git commands: every second pair of them, from the first on.

import { testKills } from '../support/worktrees-kills.ts';

await testKills(1, 2);
