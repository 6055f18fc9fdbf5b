// docs/team-configuration.md: the keys of .tool/config/workflow.yaml, made from the schema that decodes it.

import { teamFileText } from '../src/team/config/team-file-text.ts';
import { teamJsonSchema } from '../src/team/config/team-schema.ts';
import { keyTable } from './configuration-page.ts';

const INTRODUCTION = `# Team configuration

\`.tool/config/workflow.yaml\` holds the settings of a project's teams and of its quality gate. Every key is optional. An unknown key is an
error that names the nearest known one. All errors are reported at once, each with its line (and its column, where the YAML itself is
wrong).

| the file is | effect |
| --- | --- |
| absent | there is no team mode; everything else has the defaults below |
| gone from a project with team mode installed or with a team | its last valid text counts, and \`tool doctor\` says so |
| not valid | hooks continue with its last valid text, or else with the defaults, and say so. A new team that a flag asks for (\`--team\`, \`--pattern\`) is refused until the file is corrected |

An editor with the YAML language server completes the file by the schema of the package (\`schemas/team.schema.json\`, beside the file as
\`workflow.schema.json\`).

`;

const RULES = `
## Names, patterns and owners

- A teammate has the name of its role (\`backend-dev\`); its agent has a prefix (\`team-backend-dev\`). The file may have either form.
  Messages and tasks use the role.
- A role of your own stands in a pattern and in \`file_ownership\`; there it has an empty list if it owns nothing. Its name has lower-case
  letters, digits and single hyphens.
- The agent of such a role is a file of yours, \`.claude/agents/team-<role>.md\`, like those that \`tool init\` writes. If the file has a
  list of \`tools\`, the list has to hold the team's tools. \`tool doctor\` names a missing one.
- \`patterns\` is merged over the program's own patterns by name. A pattern has each role once, and at most \`max_teammates\` roles.
- \`file_ownership\` is not merged: a map that you give is the whole table. \`shared\` is no teammate: its paths are changed under a lease,
  like every path without an owner. No glob stands there twice.
- A glob counts from the project's root, with \`/\` between its parts. It needs quotes when it begins with \`*\`, which has another
  meaning in YAML.

## The file as it is installed

`;

export function teamPage(): string {
  return `${INTRODUCTION}${keyTable(teamJsonSchema())}${RULES}\`\`\`yaml\n${teamFileText()}\`\`\`\n`;
}
