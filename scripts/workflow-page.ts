// docs/configuration.md: the keys of WORKFLOW.md, made from the schema that decodes it.

import type { Runtime } from '../src/agents/rules/runtime.ts';
import { FIXED_KEYS } from '../src/daemon/config/workflow-file.ts';
import { workflowJsonSchema } from '../src/daemon/config/workflow-schema.ts';
import { keyTable } from './configuration-page.ts';

const INTRODUCTION = `# Configuration

\`WORKFLOW.md\` is YAML front matter between two lines of \`---\`, then the prompt. \`tool serve init\` writes one. Every key is
optional. An unknown key is an error that names the nearest known one; the daemon reports all errors at once. An editor with the YAML
language server completes the front matter by the schema of the package (\`schemas/workflow.schema.json\`).

The daemon reads the file again when it changes. If the new file is not valid, or gone, the last valid one stays in use. Log and status
page say so. These keys take effect at the next start, and the daemon says that too:
${FIXED_KEYS.map((key) => `\`${key}\``).join(', ')}.

`;

const PROMPT = `
## The prompt

The text after the front matter is a strict [Liquid](https://liquidjs.com) template: an unknown variable or filter is an error, wherever
it stands. The text of an issue is data. No template expands it. The runners deliver it so that the host reads no leading \`/\` or
\`@path\` in it as a command or an attachment.

| variable | |
| --- | --- |
| \`issue.number\`, \`.title\`, \`.body\`, \`.url\`, \`.author\`, \`.labels\`, \`.created_at\`, \`.updated_at\` | the issue |
| \`attempt.number\`, \`attempt.last_error\` | the number of this attempt, and the error of the last one (empty at the first) |
| \`repo.owner\`, \`repo.repo\`, \`repo.slug\` | the repository |
| \`workspace.path\`, \`workspace.branch\` | the directory and the branch of the agent |

Two filters are our own: \`fence\` puts a text into a code fence that nothing in the text can close; \`inline\` makes it one line.

## Hooks

A hook is a shell script. \`sh -e\` runs it in the workspace. After \`hooks.timeout_ms\` the daemon ends it with everything that it
started. \`tool logs\` shows its output.

- A hook gets your environment without any hosting credential.
- It also gets \`TOOL_ISSUE\`, \`TOOL_ATTEMPT\`, \`TOOL_BRANCH\`, \`TOOL_WORKSPACE\`, \`TOOL_REPO\`, \`TOOL_DEFAULT_BRANCH\` and
  \`TOOL_CLONE_URL\` (the daemon's own fresh copy of the repository).
- If \`after_create\` or \`before_run\` fails, the attempt fails. A failure of \`after_run\` or \`before_remove\` is logged and changes
  nothing.
- With \`hooks.from_repository\`, hooks of the [repository's own file](daemon.md#a-file-in-the-repository) run after these.

## Runtimes

`;

const RUNTIME_TEXTS: Readonly<Record<Runtime, string>> = {
  claude: `Claude Code 2.1.32 or later, headless. Agents get its login (\`ANTHROPIC_API_KEY\`, \`CLAUDE_CODE_OAUTH_TOKEN\`, Bedrock,
  Vertex or Foundry variables) and nothing else of your environment. \`tool.env\` names further variables that they need.`,
  command: `any program. It gets the prompt on standard input. Every line that it prints is a sign of life; exit code 0 is success.
  The daemon publishes its commits on the branch. A program whose quota is used up ends with exit code 75 and writes a line
  \`Retry-After: \` to standard error, with seconds or an HTTP date. [Attempts wait until then](daemon.md#failed-attempts).`,
  patch: `no model. It applies the unified diffs in fenced blocks of the issue's body, runs \`tool.command\` if one is given, and
  requests the pull request.`,
};

export function workflowPage(): string {
  const runtimes = Object.entries(RUNTIME_TEXTS).map(([name, text]) => `- \`${name}\`: ${text}\n`);
  return `${INTRODUCTION}${keyTable(workflowJsonSchema())}${PROMPT}${runtimes.join('')}`;
}
