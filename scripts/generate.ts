// Writes what is generated from the code: the JSON Schemas of the files that people write, the pages about their keys,
// the page of errors, and the plugin's manifest and hooks.
// usage: tsx scripts/generate.ts [--check]; with it, nothing is written and what is out of date fails.

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageVersion } from '../src/base/package-version.ts';
import { workflowJsonSchema } from '../src/daemon/config/workflow-schema.ts';
import { pluginHooks, pluginManifest } from '../src/install/hook-table.ts';
import { jsonFile } from '../src/install/json-layout.ts';
import { teamJsonSchema } from '../src/team/config/team-schema.ts';
import { errorsPage } from './errors-page.ts';
import { teamPage } from './team-page.ts';
import { workflowPage } from './workflow-page.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const generated: Readonly<Record<string, string>> = {
  'schemas/workflow.schema.json': `${JSON.stringify(workflowJsonSchema(), null, 2)}\n`,
  'schemas/team.schema.json': jsonFile(teamJsonSchema()),
  'docs/configuration.md': workflowPage(),
  'docs/team-configuration.md': teamPage(),
  'docs/errors.md': errorsPage(),
  '.claude-plugin/plugin.json': pluginManifest(packageVersion()),
  'hooks/hooks.json': pluginHooks(),
};

for (const [file, text] of Object.entries(generated)) {
  const path = join(root, file);
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    process.stderr.write(`${file} is out of date: npm run generate\n`);
    process.exitCode = 1;
  }
}
