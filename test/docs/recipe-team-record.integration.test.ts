// The recipe of CONTRIBUTING.md for this addition: a record of the team's log.

import { followRecipe } from '../support/recipes.ts';

followRecipe("Add a record of the team's log", 'team-record', 'remarked');
