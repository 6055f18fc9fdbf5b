// Formatters of the project that look at what is put into it, and would have it otherwise.

import { join } from 'node:path';
import { readRegular } from '../adapters/own-file.ts';

type Formatter = {
  readonly name: string;
  /** Where it is configured. */
  readonly configs: readonly string[];
  /** Where it is told what to leave out. */
  readonly ignores: string | null;
  readonly mend: string;
};

const FORMATTERS: readonly Formatter[] = [
  {
    name: 'Biome',
    configs: ['biome.json', 'biome.jsonc', '.biome.json', '.biome.jsonc'],
    ignores: null,
    mend: 'add "!.tool", "!.claude" and "!.mcp.json" to files.includes there, behind "**"',
  },
  {
    name: 'Prettier',
    configs: [
      ...['', '.json', '.yaml', '.yml', '.json5', '.js', '.cjs', '.mjs', '.ts', '.toml'].map(
        (end) => `.prettierrc${end}`,
      ),
      ...['js', 'cjs', 'mjs', 'ts'].map((end) => `prettier.config.${end}`),
    ],
    ignores: '.prettierignore',
    mend: 'add .tool/, .claude/ and .mcp.json to .prettierignore, if its check is part of yours',
  },
];

const MAX_BYTES = 1024 * 1024;

/** What people are to be told of them, with what mends it; nothing where they leave it out already. */
export function formatterNotes(root: string): readonly string[] {
  const read = (name: string) => readRegular(join(root, name), MAX_BYTES);
  return FORMATTERS.flatMap(({ name, configs, ignores, mend }) => {
    const config = configs.find((one) => read(one) !== null);
    if (config === undefined) return [];
    const said = [config, ...(ignores === null ? [] : [ignores])].map((one) => read(one) ?? '').join('\n');
    return said.includes('.tool')
      ? []
      : [`${name} looks at what is installed as well (${config}). To mend it: ${mend}.`];
  });
}
