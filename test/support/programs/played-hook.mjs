// Plays every hook of an installed project: notes what it is given in hooks.jsonl, and answers where the test looks for it.

import { appendFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const given = JSON.parse(readFileSync(0, 'utf8'));
const script = basename(process.argv[1], '.js');
appendFileSync(join(process.env.CLAUDE_PROJECT_DIR, 'hooks.jsonl'), `${JSON.stringify({ script, ...given })}\n`);
if (given.hook_event_name === 'UserPromptSubmit') console.log(`toolcrew: THE-NEXT-STEPS for ${given.prompt}`);
if (given.hook_event_name === 'PreToolUse' && given.tool_input.file_path?.endsWith('forbidden.txt')) {
  console.error('THE-FILE-OF-ANOTHER');
  process.exitCode = 2;
}
