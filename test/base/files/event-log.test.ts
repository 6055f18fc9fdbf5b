import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execa } from 'execa';
import fc from 'fast-check';
import { EventLog } from '../../../src/base/files/event-log.ts';
import { BASE_CODES } from '../../../src/base/rules/base-codes.ts';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { isOf } from '../../support/codes.ts';
import { scriptFile } from '../../support/compiled.ts';
import { runWithSmallFiles } from '../../support/file-limit.ts';
import { tempDir } from '../../support/temp.ts';

type Note = { readonly type: 'note'; readonly text: string };

function decode(value: unknown): Note | undefined {
  return typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    value.type === 'note' &&
    'text' in value &&
    typeof value.text === 'string'
    ? { type: 'note', text: value.text }
    : undefined;
}

function open(path: string) {
  const texts: string[] = [];
  const log = new EventLog<Note>({ path, decode, now: () => 5, onRecord: (record) => texts.push(record.text) });
  return { log, texts };
}

test('what is appended is read back, in order, by this process and the next', async (t) => {
  const path = join(tempDir(t), 'log.jsonl');
  const one = open(path);
  const stored = one.log.append({ type: 'note', text: 'a\nb' });
  one.log.append({ type: 'note', text: '漢字' });
  assert.equal(stored.v, 1);
  assert.equal(stored.at, 5);
  await one.log.flush();
  await one.log.close();
  const two = open(path);
  assert.deepEqual(two.texts, ['a\nb', '漢字']);
  assert.deepEqual(two.log.torn, []);
  await two.log.close();
});

test('any text survives', async (t) => {
  const path = join(tempDir(t), 'log.jsonl');
  const { log, texts } = open(path);
  const written: string[] = [];
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      // A lone surrogate has no form in UTF-8; JSON escapes it.
      log.append({ type: 'note', text });
      written.push(text);
    }),
    { numRuns: 200 },
  );
  assert.deepEqual(texts, written);
  await log.close();
  assert.deepEqual(open(path).texts, written);
});

test('a torn tail is skipped and reported, and spoils nothing that follows', async (t) => {
  const path = join(tempDir(t), 'log.jsonl');
  const one = open(path);
  one.log.append({ type: 'note', text: 'whole' });
  one.log.append({ type: 'note', text: 'torn' });
  await one.log.close();
  truncateSync(path, readFileSync(path).length - 9);
  const two = open(path);
  assert.deepEqual(two.texts, ['whole']);
  two.log.append({ type: 'note', text: 'after' });
  assert.deepEqual(two.texts, ['whole', 'after']);
  assert.equal(two.log.torn.length, 1);
  await two.log.close();
});

test('records that another process appended are read on', async (t) => {
  const path = join(tempDir(t), 'log.jsonl');
  const one = open(path);
  const two = open(path);
  two.log.append({ type: 'note', text: 'from two' });
  one.log.append({ type: 'note', text: 'from one' });
  assert.deepEqual(one.texts, ['from two', 'from one']);
  two.log.readOn();
  assert.deepEqual(two.texts, one.texts);
  await one.log.close();
  await two.log.close();
});

test('a record of a newer version is refused by its name', (t) => {
  const path = join(tempDir(t), 'log.jsonl');
  writeFileSync(path, '\n{"v":2,"id":"x","at":1,"type":"note","text":"later"}\n');
  assert.throws(() => open(path), isOf(BASE_CODES.record_version_newer, { path, version: 2, supported: 1 }));
});

test('a record that nobody here wrote is refused with its place', (t) => {
  const path = join(tempDir(t), 'log.jsonl');
  writeFileSync(path, '\n{"v":1,"id":"x","at":1,"type":"other"}\n');
  assert.throws(() => open(path), isOf(BASE_CODES.record_foreign, { path, offset: 1 }));
});

test('a record that could not be read back is an error to its author, and nothing is written', async (t) => {
  const path = join(tempDir(t), 'log.jsonl');
  const { log, texts } = open(path);
  log.append({ type: 'note', text: 'good' });
  const before = readFileSync(path, 'utf8');
  const bad: Note = JSON.parse('{"type":"note","text":7}');
  assert.throws(
    () => log.append(bad),
    (error) => isOf(BASE_CODES.record_not_written)(error) && /\{"type":"note","text":7/.test(String(error)),
  );
  assert.equal(readFileSync(path, 'utf8'), before);
  log.append({ type: 'note', text: 'after' });
  assert.deepEqual(texts, ['good', 'after']);
  await log.close();
  assert.deepEqual(open(path).texts, ['good', 'after']);
});

test('a directory that cannot be written to is said, with the path', (t) => {
  const directory = join(tempDir(t), 'none');
  assert.throws(
    () => open(join(directory, 'log.jsonl')),
    (error: unknown) =>
      error instanceof ToolError && error.kind === 'state_unusable' && error.message.includes(directory),
  );
});

test('a disk that takes no more is an error, nothing counts, and what stood there stays', async (t) => {
  // A limit on the size of files is a full disk for one process.
  const path = join(tempDir(t), 'log.jsonl');
  const script = `
    import { EventLog } from './src/base/files/event-log.ts';
    process.on('SIGXFSZ', () => {});
    const texts = [];
    const log = new EventLog({ path: process.argv[2], decode: (value) => value, now: () => 1, onRecord: (record) => texts.push(record.text) });
    let failed = '', code, values;
    for (let n = 0; n < 100 && failed === ''; n++) {
      try { log.append({ type: 'note', text: String(n).padEnd(100, 'x') }); } catch (error) { failed = error.message; values = error.values; code = error.code; }
    }
    console.log(JSON.stringify({ code, values, counted: texts.length }));
  `;
  const { code, values, counted } = JSON.parse(await runWithSmallFiles(script, path));
  assert.deepEqual([code, values.path], ['state_disk_full', path]);
  const { texts, log } = open(path);
  assert.equal(texts.length, counted);
  assert.ok(counted > 5);
  log.append({ type: 'note', text: 'room again' });
  assert.equal(texts.at(-1), 'room again');
  await log.close();
});

test('sixteen processes write at once: nothing is lost, nothing torn, everyone sees one order', async (t) => {
  const directory = tempDir(t);
  const path = join(directory, 'log.jsonl');
  const writer = scriptFile(`
    import { EventLog } from './src/base/files/event-log.ts';
    const [path, name, count] = process.argv.slice(2);
    const log = new EventLog({ path, decode: (value) => value, now: () => 1, onRecord: () => {} });
    for (let n = 0; n < Number(count); n++) log.append({ type: 'note', text: name + ':' + n + ':' + 'x'.repeat(n % 400) });
  `);
  const writers = 16;
  const each = 60;
  await Promise.all(
    Array.from({ length: writers }, (_, index) => execa(process.execPath, [writer, path, `w${index}`, String(each)])),
  );
  const { log, texts } = open(path);
  assert.equal(texts.length, writers * each);
  assert.equal(log.torn.length, 0);
  for (let index = 0; index < writers; index++) {
    const own = texts.filter((text) => text.startsWith(`w${index}:`)).map((text) => Number(text.split(':')[1]));
    assert.deepEqual(
      own,
      Array.from({ length: each }, (_, n) => n),
      `writer ${index} in its own order`,
    );
  }
  await log.close();
});

test('flushes that come together are one, and each covers what was appended before it', async (t) => {
  const { log } = open(join(tempDir(t), 'log.jsonl'));
  const flushes: Promise<void>[] = [];
  for (let n = 0; n < 50; n++) {
    log.append({ type: 'note', text: String(n) });
    flushes.push(log.flush());
  }
  assert.ok(new Set(flushes).size <= 3);
  await Promise.all(flushes);
  await log.close();
  await log.close();
});

test('lines of other programs in between do not end the reading', async (t) => {
  const path = join(tempDir(t), 'log.jsonl');
  const one = open(path);
  one.log.append({ type: 'note', text: 'a' });
  appendFileSync(path, 'garbage\n"text"\n');
  one.log.append({ type: 'note', text: 'b' });
  assert.deepEqual(one.texts, ['a', 'b']);
  assert.equal(one.log.torn.length, 2);
  chmodSync(path, 0o600);
  assert.ok(existsSync(path));
  await one.log.close();
});

test('a record that lacks but its last newline counts, at once and for everybody', async (t) => {
  const path = join(tempDir(t), 'log.jsonl');
  const one = open(path);
  one.log.append({ type: 'note', text: 'a}' });
  one.log.append({ type: 'note', text: 'b' });
  truncateSync(path, readFileSync(path).length - 1);
  const two = open(path);
  assert.deepEqual(two.texts, ['a}', 'b']);
  assert.equal(two.log.incomplete, 0);
  two.log.append({ type: 'note', text: 'c' });
  assert.deepEqual(two.texts, ['a}', 'b', 'c']);
  assert.deepEqual(open(path).texts, two.texts);
  assert.deepEqual(two.log.torn, []);
  await one.log.close();
  await two.log.close();
});

test('lines longer than what is read at once, and letters of several bytes between two reads, come whole', async (t) => {
  const path = join(tempDir(t), 'log.jsonl');
  const one = open(path);
  const long = ['漢'.repeat(70_000), 'x'.repeat(65_536), 'é'.repeat(200_001)];
  for (const text of [...long, 'end']) one.log.append({ type: 'note', text });
  assert.deepEqual(one.texts, [...long, 'end']);
  assert.deepEqual(open(path).texts, [...long, 'end']);
  await one.log.close();
});

test('the place of a torn line is that of its first byte, whatever stands before it', async (t) => {
  const path = join(tempDir(t), 'log.jsonl');
  const one = open(path);
  one.log.append({ type: 'note', text: '漢字' });
  const offset = readFileSync(path).length + 1;
  appendFileSync(path, Buffer.from([0x0a, 0xff, 0xe6, 0x0a]));
  appendFileSync(path, '{"half\n');
  one.log.readOn();
  assert.deepEqual(one.log.torn, [
    { offset, bytes: 2 },
    { offset: offset + 3, bytes: 6 },
  ]);
  appendFileSync(path, '\n{"v":1,"id":"x","at":1,"type":"other"}\n');
  assert.throws(() => one.log.readOn(), isOf(BASE_CODES.record_foreign, { offset: offset + 11 }));
  await one.log.close();
});

test('what cannot be read stays unread: no later record counts without it', async (t) => {
  const path = join(tempDir(t), 'log.jsonl');
  const { log, texts } = open(path);
  log.append({ type: 'note', text: 'a' });
  appendFileSync(path, '\n{"v":9,"id":"x","at":1,"type":"note","text":"later"}\n');
  appendFileSync(path, '\n{"v":1,"id":"y","at":1,"type":"note","text":"behind it"}\n');
  const newer = isOf(BASE_CODES.record_version_newer, { version: 9 });
  for (let tries = 0; tries < 2; tries++) assert.throws(() => log.readOn(), newer);
  assert.throws(() => log.append({ type: 'note', text: 'b' }), newer);
  assert.deepEqual(texts, ['a']);
  await log.close();
});

test('a log is not begun where it has to be there', (t) => {
  const path = join(tempDir(t), 'log.jsonl');
  const options = { path, decode, now: () => 1, onRecord: () => {}, create: false };
  assert.throws(
    () => new EventLog<Note>(options),
    (error) => isOf(BASE_CODES.log_not_opened, { path })(error) && /ENOENT/.test(String(error)),
  );
  assert.equal(existsSync(path), false);
});
