// Formatters of the project that would change installed files.

import { join } from 'node:path';
import { readRegular } from '../base/files/safe-read.ts';
import { type Refusal, refusal } from '../base/rules/codes.ts';
import { nestedValue } from '../gate/detect/project-files.ts';
import { EXCLUDE_ADVICE } from '../gate/rules/installed-files.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

type Formatter = {
  readonly name: string;
  /** Where it is configured. */
  readonly configs: readonly string[];
  /** Where it is told what to leave out. */
  readonly ignores: string | null;
  readonly mend: string;
  /** The part of package.json that may be its configuration. */
  readonly manifest?: string;
};

const FORMATTERS: readonly Formatter[] = [
  {
    name: 'Biome',
    configs: ['biome.json', 'biome.jsonc', '.biome.json', '.biome.jsonc'],
    ignores: null,
    mend: EXCLUDE_ADVICE.Biome,
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
    mend: EXCLUDE_ADVICE.Prettier,
    manifest: 'prettier',
  },
];

const MAX_BYTES = 1024 * 1024;

/** A part of package.json as text; null where there is none, or no package.json that can be read. */
function partOf(text: string | null, part: string): string | null {
  try {
    const value = text === null ? undefined : nestedValue(JSON.parse(text), part);
    return value === undefined ? null : JSON.stringify(value);
  } catch {
    return null;
  }
}

/** What people are to be told of them, with what mends it; nothing where they leave it out already. */
export function formatterNotes(root: string): readonly Refusal[] {
  const read = (name: string) => readRegular(join(root, name), MAX_BYTES);
  return FORMATTERS.flatMap(({ name, configs, ignores, mend, manifest }) => {
    const part = manifest === undefined ? null : partOf(read('package.json'), manifest);
    const config = configs.find((one) => read(one) !== null) ?? (part === null ? undefined : 'package.json');
    if (config === undefined) return [];
    const own = config === 'package.json' ? part : read(config);
    const said = [own ?? '', ignores === null ? '' : (read(ignores) ?? '')].join('\n');
    return said.includes('.tool') ? [] : [refusal(INSTALL_CODES.formatter_reads_install, { name, config, mend })];
  });
}
