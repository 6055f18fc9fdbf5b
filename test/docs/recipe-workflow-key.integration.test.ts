// The recipe of CONTRIBUTING.md for this addition: a key of WORKFLOW.md.

import { followRecipe } from '../support/recipes.ts';

followRecipe('Add a key of WORKFLOW.md', 'workflow-key', 'jitter');
