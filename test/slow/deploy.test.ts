// Units, alert rules and the Redis of deploy/ as the programs that take them judge them.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execa, execaSync } from 'execa';
import { Redis } from 'ioredis';
import { parse } from 'yaml';
import { freePort } from '../support/free-port.ts';
import { finallyDo, tempDir } from '../support/temp.ts';

function missing(program: string, debian: string): string | false {
  const { failed } = execaSync(program, ['--version'], { reject: false });
  return failed && `there is no ${program}: apt-get install ${debian}`;
}

const noSystemd = missing('systemd-analyze', 'systemd');

test('systemd takes the units', { skip: process.env.CI !== 'true' && noSystemd }, (t) => {
  assert.equal(noSystemd, false);
  const verify = (text: string) => {
    const unit = join(tempDir(t), 'toolcrew.service');
    // The program is another one here: the command is not installed for the machine.
    writeFileSync(unit, text.replace('/usr/local/bin/tool ', '/bin/true '));
    const { exitCode, stderr } = execaSync({ reject: false })`systemd-analyze verify --man=no ${unit}`;
    return { exitCode, stderr };
  };
  for (const name of ['toolcrew', 'toolcrew-worker']) {
    const unit = readFileSync(`deploy/${name}.service`, 'utf8');
    assert.deepEqual(verify(unit), { exitCode: 0, stderr: '' });
    assert.match(verify(unit.replace('Type=exec', 'Type=nothing')).stderr, /nothing/);
  }
});

test('the Redis of the compose file takes its password from the secret, and drops nothing', async (t) => {
  const place = tempDir(t);
  const password = 'a"password\\of%many&signs';
  writeFileSync(join(place, 'REDIS_PASSWORD'), password);
  const { redis } = parse(readFileSync('deploy/compose.fleet.yaml', 'utf8')).services;
  const [shell, flag, script] = redis.command;
  const port = await freePort();
  const own = script.replace('/run/secrets', place);
  const words = [flag, own.replace('redis-server -', `redis-server - --bind 127.0.0.1 --port ${port}`)];
  const child = execa(shell, words, { cwd: place, detached: true, buffer: false, reject: false });
  finallyDo(t, () => void process.kill(-(child.pid ?? 0), 'SIGKILL'));
  let said = '';
  for await (const chunk of child.stdout) {
    said += String(chunk);
    if (said.includes('Ready to accept connections')) break;
  }
  assert.match(said, /Ready to accept connections/);
  const client = new Redis({ port, password, maxRetriesPerRequest: 1 });
  finallyDo(t, () => client.disconnect());
  assert.deepEqual(await client.config('GET', 'maxmemory-policy'), ['maxmemory-policy', 'noeviction']);
  assert.deepEqual(await client.config('GET', 'save'), ['save', '']);
  const stranger = new Redis({ port, maxRetriesPerRequest: 1 });
  finallyDo(t, () => stranger.disconnect());
  await assert.rejects(stranger.get('key'), /NOAUTH/);
});

/** Its Debian package needs 96 MB: `.ci/run` does without, and test/deploy/metrics.test.ts checks the form of the rules. */
test('Prometheus takes the alert rules', { skip: missing('promtool', '--no-install-recommends prometheus') }, () => {
  const { stdout } = execaSync`promtool check rules deploy/prometheus/alerts.yaml`;
  assert.match(stdout, /SUCCESS: 12 rules found/);
});
