// docs/team-configuration.md: the keys of .tool/config/workflow.yaml, made from the schema that decodes it.

import { teamFileText } from '../src/adapters/config/team-file-text.ts';
import { teamJsonSchema } from '../src/adapters/config/team-schema.ts';
import { keyTable } from './configuration-page.ts';

const INTRODUCTION = `# Team configuration

\`.tool/config/workflow.yaml\` says how teams of agents work on a project, and what finished work has to meet. Every key is
optional; an unknown key is an error that names the nearest known one, and all errors are said at once, each with its line
(and column, where the YAML itself is wrong). Without the file there is no team mode; where it is
gone from a project in which team mode is installed, or a team stands, what it said last holds, and the doctor says so. Everything else has
the defaults below.

A file that is not valid changes nothing: hooks go on with what it said before, or with the defaults where it was never
valid, and say so. A new team that a flag asks for (\`--team\`, \`--pattern\`) is refused until the file is corrected. Editors that know the YAML language server complete the file with the schema that the package brings
(\`schemas/team.schema.json\`, beside the file as \`workflow.schema.json\`).

`;

const RULES = `
## Names, patterns and owners

- A teammate is called by its role (\`backend-dev\`), its agent with a prefix (\`team-backend-dev\`). The file may have either;
  messages and tasks use the name of the role.
- A role of your own stands in a pattern and in \`file_ownership\`: one who owns nothing has an empty list there. It is
  called in lower-case letters, digits and single hyphens. Its agent is a file of yours, \`.claude/agents/team-<role>.md\`, like
  those that \`tool init\` puts beside it; a list of \`tools\` in it has the team's in it too. \`tool doctor\` names one that is missing.
- \`patterns\` is merged over the program's own patterns by name. A pattern has each role once, and no more roles than
  \`max_teammates\`.
- \`file_ownership\` is not merged: a map that is given is the whole table. \`shared\` is no teammate: what stands there is
  changed under a lease, like every path that is nobody's. No glob stands there twice.
- A glob counts from the project's root, with \`/\` between its parts, and needs quotes when it begins with \`*\`, which
  means something else in YAML.

## The file as it is installed

`;

export function teamPage(): string {
  return `${INTRODUCTION}${keyTable(teamJsonSchema())}${RULES}\`\`\`yaml\n${teamFileText()}\`\`\`\n`;
}
