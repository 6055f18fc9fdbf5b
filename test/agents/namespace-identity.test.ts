import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { Isolation } from '../../src/agents/isolation.ts';
import { namespaceIdentity, parseNamespaceIdentity } from '../../src/agents/namespace-identity.ts';
import { tempDir } from '../support/temp.ts';

const OWNER = { team: 'tool-run-spec-a-001', name: 'backend-dev', epoch: 3 };
const KNOWN = { team: OWNER.team, teammate: OWNER.name, epoch: OWNER.epoch };
const row = (source: string) => `812 790 0:52 / /s/mounts/room ro,relatime - tmpfs ${source} ro,size=4k,mode=700`;

test('the first mount of the project that names a teammate counts', () => {
  const forged = namespaceIdentity('/p', { ...OWNER, name: 'tester' });
  const table = [row('none'), row('toolcrew'), row(namespaceIdentity('/p', OWNER)), row(forged)].join('\n');
  assert.deepEqual(parseNamespaceIdentity(table, '/p'), KNOWN);
  assert.equal(parseNamespaceIdentity(table, '/another/project'), undefined);
  assert.equal(parseNamespaceIdentity('', '/p'), undefined);
});

test('namespaces carry whose they are, and a mount made in them changes nothing', async (t) => {
  const tables = join(tempDir(t), 'mounts');
  const isolation = await Isolation.probe('auto', { readOnly: [], hidden: [], tables });
  if (!isolation.active) {
    t.diagnostic(`THE KERNEL GIVES NO NAMESPACES (${isolation.reason}): nothing to look into`);
    return;
  }
  const mountsOf = (...command: readonly string[]) => {
    const [file = '', ...args] = command;
    const [wrapped, all] = isolation.wrap(file, args, [], { identity: namespaceIdentity('/p', OWNER) });
    return execaSync(wrapped, all).stdout;
  };
  assert.deepEqual(parseNamespaceIdentity(mountsOf('cat', '/proc/self/mountinfo'), '/p'), KNOWN);
  const other = namespaceIdentity('/p', { ...OWNER, name: 'tester' });
  const script = `umount ${tables}/room; mount -t tmpfs '${other}' /mnt && cat /proc/self/mountinfo`;
  const inner = mountsOf('unshare', '-Urm', '/bin/sh', '-c', `{ ${script}; } 2>/dev/null`);
  assert.ok(inner.includes(other));
  assert.deepEqual(parseNamespaceIdentity(inner, '/p'), KNOWN);
});
