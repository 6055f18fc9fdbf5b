// Shows a team as the command line does, as a process of its own: <board|status|events> <root> <team or ''> <options as JSON>.

import { ToolError } from '../../../src/base/rules/errors.ts';
import { failedText } from '../../../src/cli/failed-command.ts';
import { boardCommand } from '../../../src/cli/screen/team-board.ts';
import { eventsCommand } from '../../../src/cli/screen/team-events.ts';
import { statusCommand } from '../../../src/cli/team-status.ts';

const [command = '', root = '', team = '', json = '{}'] = process.argv.slice(2);
const run = { board: boardCommand, status: statusCommand, events: eventsCommand }[command];
try {
  await run?.(root, team === '' ? undefined : team, JSON.parse(json));
} catch (error) {
  process.stderr.write(`${failedText(error)}\n`);
  process.exitCode = error instanceof ToolError ? error.exitCode : 1;
}
