// The recipes of CONTRIBUTING.md, each with its example. One copy of the project serves all: its files are parsed once.

import { after } from 'node:test';
import { Copy, followRecipe } from '../support/recipes.ts';

const copy = new Copy({ after });

followRecipe(copy, 'Add a runtime', 'runtime', 'echo');
followRecipe(copy, 'Add a tracker', 'tracker', 'memory');
followRecipe(copy, 'Add a message type', 'message-type', 'design_ready');
followRecipe(copy, 'Add an ecosystem to the gate', 'ecosystem', 'Gemfile');
followRecipe(copy, 'Add a key of WORKFLOW.md', 'workflow-key', 'jitter');
followRecipe(copy, "Add a record of the team's log", 'team-record', 'remarked');
