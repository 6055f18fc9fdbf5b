// Advice for formatters and linters of the project that check the files installed for agents.

/** What a person does, so that a tool leaves them out. */
export const EXCLUDE_ADVICE = {
  Biome: 'add "!.tool", "!.claude" and "!.mcp.json" to files.includes there, behind "**"',
  Prettier: 'add .tool/, .claude/ and .mcp.json to .prettierignore, if its check is part of yours',
} as const;

const INSTALLED = /(?:^|[^\w./-])(?:\.\/)?(?:\.(?:tool|claude)\/|\.mcp\.json\b)/;

/** What is to be done about them where a linter's words name any; null: they name none. */
export function installedRemedy(lines: readonly string[]): string | null {
  if (!lines.some((line) => INSTALLED.test(line))) return null;
  const said = lines.join('\n');
  const isPrettier = /prettier|^\[(?:warn|error)\]/im.test(said);
  const isBiome = /biome|: format: /i.test(said);
  const mends = [
    ...(isBiome || !isPrettier ? [`Biome (biome.json): ${EXCLUDE_ADVICE.Biome}`] : []),
    ...(isPrettier || !isBiome ? [`Prettier: ${EXCLUDE_ADVICE.Prettier}`] : []),
  ];
  return `Do not change .claude/, .tool/ or .mcp.json. Tell the lead to ask the user to exclude them: ${mends.join('; or ')}.`;
}
