// The recipe of CONTRIBUTING.md for this addition: an ecosystem to the gate.

import { followRecipe } from '../support/recipes.ts';

followRecipe('Add an ecosystem to the gate', 'ecosystem', 'Gemfile');
