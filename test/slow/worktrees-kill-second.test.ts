// A lead that is killed at its git commands: every second pair of them, from the second on.

import { testKills } from '../support/worktrees-kills.ts';

await testKills(2, 2);
