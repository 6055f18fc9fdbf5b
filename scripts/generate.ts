// Writes what is generated from the code: the JSON Schema of WORKFLOW.md's front matter.

import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { workflowJsonSchema } from '../src/adapters/config/workflow-schema.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
writeFileSync(join(root, 'schemas', 'workflow.schema.json'), `${JSON.stringify(workflowJsonSchema(), null, 2)}\n`);
