// A temporary directory for all that a demo makes, and what is left in it.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnv } from './daemon.ts';
import { processesAt } from './processes-at.ts';
import { type Cleanup, tempDir } from './temp.ts';

/** For somebody without a home. */
export function demoPlace(t: Cleanup) {
  const temporary = join(tempDir(t), 'tmp');
  mkdirSync(temporary);
  const nothingLeft = () => {
    assert.deepEqual(processesAt(temporary), []);
    assert.deepEqual(readdirSync(temporary), []);
  };
  return { env: { ...cleanEnv(''), TMPDIR: temporary }, nothingLeft };
}
