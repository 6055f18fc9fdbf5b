import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { readCallerSignature, signCaller } from '../../../src/claude-code/older/caller-signature.ts';
import { tempDir } from '../../support/temp.ts';

const STAMP = { session: 's', agentId: 'a', agentType: 'team-tester', toolUseId: null };

test('a stamp is read where it was made, and nowhere else', (t) => {
  const place = join(tempDir(t), 'project');
  const text = signCaller(place, STAMP);
  assert.deepEqual(readCallerSignature(place, text), STAMP);
  assert.equal(readCallerSignature(tempDir(t), text), undefined);
  assert.equal(statSync(join(place, 'caller-signature.key')).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(place), ['caller-signature.key']);
});

test('a key that is not whole is none: it is made anew, and what anybody can sign with it is worth nothing', (t) => {
  const place = tempDir(t);
  const path = join(place, 'caller-signature.key');
  writeFileSync(path, '');
  const payload = Buffer.from(JSON.stringify(STAMP)).toString('base64url');
  const forged = `${payload}.${createHmac('sha256', '').update(payload).digest('base64url')}`;
  assert.equal(readCallerSignature(place, forged), undefined);
  assert.equal(readFileSync(path).length, 32);
  writeFileSync(path, 'short');
  const text = signCaller(place, STAMP);
  assert.deepEqual(readCallerSignature(place, text), STAMP);
  assert.deepEqual(readdirSync(place), ['caller-signature.key']);
});
