// Lines of the daemon's log, as text and as JSON.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createLogger, type LogFormat } from '../../src/base/logger.ts';
import { saying } from '../support/codes.ts';

function logged(format: LogFormat, secrets: readonly string[] = []) {
  const written: string[] = [];
  const log = createLogger({ format, write: (text) => written.push(text), now: () => 0, secrets: () => [...secrets] });
  return { log, written };
}

test('a line of text has its source, its level and the code of a refusal', () => {
  const { log, written } = logged('text');
  log.log('info', 'serve', 'ready');
  log.log('warn', 'poller', saying('tracker', 'it answered 502.'));
  assert.deepEqual(written, ['[serve]     ready\n', '[poller]    warn: it answered 502. (any_words)\n']);
});

test('a warning about an issue names it, once', () => {
  const { log, written } = logged('text');
  log.log('warn', 'poller', saying('tracker', 'nobody answered #12.'), { issue: 1 });
  log.log('error', 'publish', 'issue #1: it broke', { issue: 1 });
  log.log('info', 'hook', 'after_create', { issue: 1 });
  assert.deepEqual(written, [
    '[poller]    warn: issue #1: nobody answered #12. (any_words)\n',
    '[publish]   error: issue #1: it broke\n',
    '[hook]      after_create\n',
  ]);
});

test('a line of JSON has the code of a refusal as a field', () => {
  const { log, written } = logged('json');
  log.log('info', 'serve', 'ready', { issue: 2 });
  log.log('error', 'hook', saying('hook', 'it\nbroke'));
  const rows = written.map((line) => JSON.parse(line));
  const time = '1970-01-01T00:00:00.000Z';
  assert.deepEqual(rows, [
    { time, level: 'info', source: 'serve', message: 'ready', issue: 2 },
    { time, level: 'error', source: 'hook', message: 'it; broke', code: 'any_words' },
  ]);
});

test('a secret is in no line, also not in the words of a refusal', () => {
  for (const format of ['text', 'json'] as const) {
    const { log, written } = logged(format, ['ghp_secretsecret']);
    log.log('warn', 'serve', saying('tracker', 'turned ghp_secretsecret away'));
    assert.match(written.join(''), /turned .* away/);
    assert.doesNotMatch(written.join(''), /ghp_secret/);
  }
});
