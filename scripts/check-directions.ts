// Holds src to the directions of .dependency-cruiser.cjs, keeps rules pure, and proves that every file was looked at.
// usage: tsx scripts/check-directions.ts [root]

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise, type ICruiseOptions, type IFlattenedRuleSet } from 'dependency-cruiser';
import { impure } from './impure.ts';

const project = dirname(dirname(fileURLToPath(import.meta.url)));
const root = resolve(process.argv[2] ?? project);
const rules: { forbidden: IFlattenedRuleSet['forbidden']; options: ICruiseOptions } = createRequire(import.meta.url)(
  join(project, '.dependency-cruiser.cjs'),
);

const { output } = await cruise(['src'], {
  ...rules.options,
  baseDir: root,
  validate: true,
  ruleSet: { forbidden: rules.forbidden ?? [] },
  outputType: 'json',
});
const { modules, summary } = JSON.parse(String(output));
const looked = new Set<string>(modules.map((module: { source: string }) => module.source));
const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => `src/${file}`);
const missed = files.filter((file) => !looked.has(file));
type Violation = { readonly rule: { readonly name: string }; readonly from: string; readonly to: string };
type Imports = {
  readonly source: string;
  readonly dependencies: readonly { couldNotResolve: boolean; module: string }[];
};
const unresolved = modules.flatMap(({ source, dependencies }: Imports) =>
  dependencies
    .filter(({ couldNotResolve, module }) => couldNotResolve && module.startsWith('.'))
    .map(({ module }) => `not found: ${source} → ${module}`),
);
const effects = files
  .filter((file) => file.split('/').includes('rules'))
  .flatMap((file) => impure(file, readFileSync(join(root, file), 'utf8')).map((at) => `rules-are-pure: ${file}:${at}`));
const wrong = [
  ...summary.violations.map(({ rule, from, to }: Violation) => `${rule.name}: ${from} → ${to}`),
  ...unresolved,
  ...effects,
];
for (const one of wrong) process.stderr.write(`${one}\n`);
if (files.length === 0 || missed.length > 0)
  process.stderr.write(`not looked at: ${missed.join(', ') || 'anything'}\n`);
const dependencies = modules.reduce(
  (sum: number, module: { dependencies: unknown[] }) => sum + module.dependencies.length,
  0,
);
if (wrong.length > 0 || files.length === 0 || missed.length > 0 || dependencies === 0) process.exitCode = 1;
else process.stdout.write(`directions hold: ${files.length} modules, ${dependencies} imports looked at\n`);
