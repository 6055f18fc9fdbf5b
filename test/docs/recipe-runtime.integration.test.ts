// The recipe of CONTRIBUTING.md for this addition: a runtime.

import { followRecipe } from '../support/recipes.ts';

followRecipe('Add a runtime', 'runtime', 'echo');
