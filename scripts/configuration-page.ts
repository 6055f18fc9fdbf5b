// docs/configuration.md, made from the schema that decodes the file.

type Schema = {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
};

const INTRODUCTION = `# Configuration

\`WORKFLOW.md\` is YAML front matter between two lines of \`---\`, then the prompt. \`tool serve init\` writes one. Every key is
optional; an unknown key is an error that names the nearest known one, and all errors are said at once. Editors that
know the YAML language server complete the front matter with the schema that the package brings
(\`schemas/workflow.schema.json\`).

The file is read again when it changes. One that is not valid, or gone, changes nothing: the last good one stays in
use, and log and status page say so. What is bound at start (\`tracker.repo\`, \`tracker.api_url\`, \`tracker.token\`, \`workspace.root\`,
\`state.dir\`, \`server\`, \`tool.isolation\`) takes effect at the next start, which is said as well.

| key | type | default | |
| --- | --- | --- | --- |
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

function typeOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  const bounded = schema.minimum !== undefined && schema.minimum > Number.MIN_SAFE_INTEGER;
  return types
    .map((type) => {
      if (type === 'array') return `list of ${schema.items === undefined ? 'anything' : typeOf(schema.items)}`;
      const most = schema.maximum ?? Number.MAX_SAFE_INTEGER;
      if (type === 'integer' && bounded && most < Number.MAX_SAFE_INTEGER)
        return `integer, ${schema.minimum} to ${most}`;
      if (type === 'integer' && bounded) return `integer, ${schema.minimum} or more`;
      if (type === 'number' && schema.exclusiveMinimum !== undefined) return `number above ${schema.exclusiveMinimum}`;
      return type;
    })
    .join(' or ');
}

function rowsOf(schema: Schema, prefix: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const key = prefix === '' ? name : `${prefix}.${name}`;
    if (inner.properties !== undefined) return rowsOf(inner, key);
    const value = inner.default === undefined ? '' : `\`${JSON.stringify(inner.default)}\``;
    const cells = [`\`${key}\``, typeOf(inner), value, inner.description ?? ''];
    return [`| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/<(?=\w)/g, '&lt;')).join(' | ')} |`];
  });
}

/** The page for this JSON Schema of the front matter. */
export function configurationPage(schema: Schema): string {
  return `${INTRODUCTION}${rowsOf(schema, '').join('\n')}\n${PROMPT}`;
}
