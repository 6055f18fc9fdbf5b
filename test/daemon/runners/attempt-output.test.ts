import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { issueDirectory } from '../../../src/agents/issue-directory.ts';
import {
  ATTEMPT_OUTPUT_MAX_BYTES,
  FileAttemptOutputs,
  listAttemptOutputs,
  OUTPUT_PART_BYTES,
  readAttemptOutput,
} from '../../../src/daemon/runners/attempt-output.ts';
import { tempDir } from '../../support/temp.ts';

const quiet = () => undefined;
const never = () => false;

test('each attempt of each life has a file, listed in order, for its owner only', (t) => {
  const state = tempDir(t);
  const outputs = new FileAttemptOutputs(state, () => [], quiet, never);
  assert.deepEqual(listAttemptOutputs(state, 7), []);
  for (const [life, attempt] of [
    [2, 1],
    [1, 10],
    [1, 2],
  ] as const) {
    const transcript = outputs.open(7, life, attempt);
    transcript.write(`life ${life}, `);
    transcript.write(`attempt ${attempt}\n`);
    transcript.close();
  }
  writeFileSync(join(issueDirectory(state, 7), 'notes.log'), '');
  const files = listAttemptOutputs(state, 7);
  assert.deepEqual(
    files.map(({ path }) => readFileSync(path, 'utf8')),
    ['life 1, attempt 2\n', 'life 1, attempt 10\n', 'life 2, attempt 1\n'],
  );
  assert.equal(statSync(files[0]?.path ?? '').mode & 0o777, 0o600);
  assert.equal(statSync(issueDirectory(state, 7)).mode & 0o777, 0o700);
  assert.deepEqual(listAttemptOutputs(state, 8), []);
});

/** What stands in a transcript after `texts` were written to it. */
function written(state: string, secrets: readonly string[], texts: readonly string[]): string {
  const transcript = new FileAttemptOutputs(state, () => secrets, quiet, never).open(1, 1, 1);
  for (const text of texts) transcript.write(text);
  transcript.close();
  transcript.write('too late');
  transcript.close();
  return readFileSync(listAttemptOutputs(state, 1)[0]?.path ?? '', 'utf8');
}

test('no secret and no control character gets into it, nothing after it was closed', (t) => {
  const texts = ['a ghp_0123456789\n', '\u001b[2Jb\r\n', '\u202ec\u0000\n'];
  assert.equal(written(tempDir(t), ['ghp_0123456789'], texts), 'a [secret]\n\\x1b[2Jb\n\\u{202e}c\\x00\n');
});

test('of output without end the beginning is kept, and said that it is not all', (t) => {
  const line = `${'ü'.repeat(512)}\n`;
  const text = written(tempDir(t), [], [line.repeat(4_000), line.repeat(4_000), line]);
  const note = `\n[the output is longer than ${ATTEMPT_OUTPUT_MAX_BYTES} bytes; the rest is not kept]\n`;
  assert.ok(text.startsWith(line) && text.endsWith(note));
  assert.equal(text.split('not kept').length, 2, 'said once');
  const kept = Buffer.byteLength(text) - note.length;
  assert.ok(
    kept >= ATTEMPT_OUTPUT_MAX_BYTES && kept < ATTEMPT_OUTPUT_MAX_BYTES + 4,
    'a half character may be made whole',
  );
});

test('of an issue that is over only its transcripts stay', async (t) => {
  const state = tempDir(t);
  const outputs = new FileAttemptOutputs(state, () => [], quiet, never);
  await outputs.forget(7);
  assert.deepEqual(readdirSync(state), [], 'an issue without any attempt leaves nothing to forget');
  outputs.open(7, 1, 1).close();
  mkdirSync(join(issueDirectory(state, 7), 'homes', '1', 'deep'), { recursive: true });
  await outputs.forget(7);
  await outputs.settled();
  assert.deepEqual(readdirSync(issueDirectory(state, 7)), ['1-1.log']);
});

test('an output is read on from a byte; the end of a long one begins with a whole line', (t) => {
  const state = tempDir(t);
  const outputs = new FileAttemptOutputs(state, () => [], quiet, never);
  assert.equal(readAttemptOutput(state, 7), undefined);
  outputs.open(7, 1, 1).write('old\n');
  const second = outputs.open(7, 1, 2);
  second.write('one\n');
  assert.deepEqual(readAttemptOutput(state, 7), { name: '1-2', from: 0, to: 4, text: 'one\n' });
  second.write('two\n');
  assert.deepEqual(readAttemptOutput(state, 7, { from: 4 }), { name: '1-2', from: 4, to: 8, text: 'two\n' });
  assert.deepEqual(readAttemptOutput(state, 7, { from: 99 }), { name: '1-2', from: 8, to: 8, text: '' });
  assert.equal(readAttemptOutput(state, 7, { of: '1-1' })?.text, 'old\n');
  assert.equal(readAttemptOutput(state, 7, { of: '1-3' }), undefined);
  for (let line = 0; line < 3_000; line++) second.write(`line ${line} is as long as others\n`);
  const end = readAttemptOutput(state, 7, { from: 8 });
  assert.ok(end !== undefined && end.from > 8 && end.text.length <= OUTPUT_PART_BYTES);
  assert.match(end.text, /^line \d+ is .*\n[\s\S]*line 2999 is as long as others\n$/);
  assert.equal(end.from + Buffer.byteLength(end.text), end.to);
});
