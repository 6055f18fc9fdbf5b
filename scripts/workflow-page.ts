// docs/configuration.md: the keys of WORKFLOW.md, made from the schema that decodes it.

import { workflowJsonSchema } from '../src/adapters/config/workflow-schema.ts';
import { keyTable } from './configuration-page.ts';

const INTRODUCTION = `# Configuration

\`WORKFLOW.md\` is YAML front matter between two lines of \`---\`, then the prompt. \`tool serve init\` writes one. Every key is
optional; an unknown key is an error that names the nearest known one, and all errors are said at once. Editors that
know the YAML language server complete the front matter with the schema that the package brings
(\`schemas/workflow.schema.json\`).

The file is read again when it changes. One that is not valid, or gone, changes nothing: the last good one stays in
use, and log and status page say so. What is bound at start (\`tracker.repo\`, \`tracker.api_url\`, \`tracker.token\`, \`workspace.root\`,
\`state.dir\`, \`server\`, \`tool.isolation\`) takes effect at the next start, which is said as well.

`;

const PROMPT = `
## The prompt

What follows the front matter is a strict [Liquid](https://liquidjs.com) template: an unknown variable or filter is an
error, wherever it stands in the template. Text of an issue is data; it is never expanded, and the runners deliver it in a way that keeps the host from
reading a leading \`/\` or an \`@path\` in it as a command or an attachment.

| variable | |
| --- | --- |
| \`issue.number\`, \`.title\`, \`.body\`, \`.url\`, \`.author\`, \`.labels\`, \`.created_at\`, \`.updated_at\` | the issue |
| \`attempt.number\`, \`attempt.last_error\` | which try this is, and how the last one ended (empty at the first) |
| \`repo.owner\`, \`repo.repo\`, \`repo.slug\` | the repository |
| \`workspace.path\`, \`workspace.branch\` | where the agent works |

Two filters of our own: \`fence\` puts a text into a code fence that nothing in it can close; \`inline\` makes it one line.

## Hooks

Shell scripts, run with \`sh -e\` in the workspace, ended with everything they started after \`hooks.timeout_ms\`; what they
print is kept and shown by \`tool logs\`. They get your environment without any hosting credential, and \`TOOL_ISSUE\`,
\`TOOL_ATTEMPT\`, \`TOOL_BRANCH\`, \`TOOL_WORKSPACE\`, \`TOOL_REPO\`, \`TOOL_CLONE_URL\` (the daemon's own fresh copy of the
repository) and \`TOOL_DEFAULT_BRANCH\`. \`after_create\` and \`before_run\` fail the attempt when they fail; the failure of
\`after_run\` and \`before_remove\` is logged and changes nothing.

## Runtimes

- \`claude\`: Claude Code 2.1.32 or later, headless. Agents get its login (\`ANTHROPIC_API_KEY\`, \`CLAUDE_CODE_OAUTH_TOKEN\`,
  Bedrock, Vertex or Foundry variables) and nothing else of your environment; \`tool.env\` names what they need beside.
- \`command\`: any program. The prompt comes on standard input; every line it prints is a life sign; exit code 0 is a good
  end. Its commits on the branch are what is published.
- \`patch\`: no model. Applies the unified diffs in fenced blocks of the issue's body, runs \`tool.command\` if one is given,
  and asks for the pull request.
`;

export function workflowPage(): string {
  return `${INTRODUCTION}${keyTable(workflowJsonSchema())}${PROMPT}`;
}
