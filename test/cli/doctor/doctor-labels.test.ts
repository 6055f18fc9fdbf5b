// `tool doctor` names a label that the service's list cannot be asked for.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { diagnose } from '../../../src/cli/doctor/doctor.ts';
import { cleanEnv } from '../../support/daemon.ts';
import { tempDir } from '../../support/temp.ts';

test('a label with a comma fails the workflow row and is named', async (t) => {
  const directory = tempDir(t);
  const workflow = join(directory, 'WORKFLOW.md');
  for (const labels of ['active_states: ["tool-todo", "bug, urgent"]', 'active_states: "bug, urgent"']) {
    // Nothing listens there: nobody asks a service while the file is wrong.
    writeFileSync(workflow, `---\ntracker: { repo: o/r, api_url: "http://127.0.0.1:9", ${labels} }\n---\n`);
    const row = (await diagnose(workflow, cleanEnv(directory))).find(({ name }) => name === 'workflow');
    assert.equal(row?.status, 'fail', labels);
    assert.match(row?.says ?? '', /active_states: .*"bug, urgent"/, labels);
    assert.ok(row?.mend, labels);
  }
});
