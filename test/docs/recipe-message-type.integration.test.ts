// The recipe of CONTRIBUTING.md for this addition: a message type.

import { followRecipe } from '../support/recipes.ts';

followRecipe('Add a message type', 'message-type', 'design_ready');
