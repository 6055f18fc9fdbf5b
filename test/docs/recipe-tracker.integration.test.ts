// The recipe of CONTRIBUTING.md for this addition: a tracker.

import { followRecipe } from '../support/recipes.ts';

followRecipe('Add a tracker', 'tracker', 'memory');
