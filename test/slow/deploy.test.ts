// The unit and the alert rules of deploy/ as the programs that take them judge them.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { tempDir } from '../support/temp.ts';

function missing(program: string, debian: string): string | false {
  return spawnSync(program, ['--version']).status === 0 ? false : `there is no ${program}: apt-get install ${debian}`;
}

const noSystemd = missing('systemd-analyze', 'systemd');

test('systemd takes the unit', { skip: process.env.CI !== 'true' && noSystemd }, (t) => {
  assert.equal(noSystemd, false);
  const verify = (text: string) => {
    const unit = join(tempDir(t), 'toolcrew.service');
    // The program is another one here: the command is not installed for the machine.
    writeFileSync(unit, text.replace('/usr/local/bin/tool ', '/bin/true '));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
    return { status, stderr };
  };
  const unit = readFileSync('deploy/toolcrew.service', 'utf8');
  assert.deepEqual(verify(unit), { status: 0, stderr: '' });
  assert.match(verify(unit.replace('Type=exec', 'Type=nothing')).stderr, /nothing/);
});

/** Its Debian package needs 96 MB: `.ci/run` does without, and test/deploy/metrics.test.ts checks the form of the rules. */
test('Prometheus takes the alert rules', { skip: missing('promtool', '--no-install-recommends prometheus') }, () => {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', 'deploy/prometheus/alerts.yaml'], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /SUCCESS: 12 rules found/);
});
