// Loads the settings of a project's teams as a hook does, and prints them. usage: <project root> <state directory>

import { loadTeamSettings } from '../../../src/team/config/settings-snapshot.ts';

const [root = '', state = ''] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await loadTeamSettings(root, state)));
