import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { CLI_CODES } from '../../../src/cli/rules/cli-codes.ts';
import { NOTICE_CODES } from '../../../src/cli/rules/notice-codes.ts';
import { checkDisplay, panesFor, TmuxPanes } from '../../../src/cli/screen/tmux-panes.ts';
import { isOf, lineLike } from '../../support/codes.ts';
import { tempDir } from '../../support/temp.ts';
import { hasTmux, Tmux } from '../../support/tmux.ts';

const skip = hasTmux ? false : 'there is no tmux here';

test('a pane for each, with all that it printed and prints, until it ends', { skip }, async (t) => {
  const tmux = new Tmux(t, ['cat']);
  const said: string[] = [];
  const panes = new TmuxPanes({ env: tmux.variables, say: (words) => said.push(words) });
  const directory = tempDir(t);
  const fileOf = (name: string) => join(directory, `what's said by ${name}.log`);
  for (const name of ['backend-dev', 'tester']) {
    writeFileSync(fileOf(name), `first words of ${name}\n`);
    panes.show(name, fileOf(name));
    panes.show(name, fileOf(name));
  }
  await tmux.until((all) => all.size === 2 && all.get('tester') === 'first words of tester');
  appendFileSync(fileOf('backend-dev'), 'more words\n');
  await tmux.until((all) => all.get('backend-dev') === 'first words of backend-dev\nmore words');
  assert.ok(panes.has('tester'));
  assert.equal(tmux.ask('display-message', '-p', '#{pane_id}'), '%0', 'the lead keeps the keys');
  panes.end('tester');
  await tmux.until((all) => [...all.keys()].join() === 'backend-dev');
  await panes.close();
  assert.deepEqual([...tmux.panes.keys()], []);
  assert.deepEqual(said, []);
});

test('a pane that somebody closes is nobody’s trouble', { skip }, async (t) => {
  const tmux = new Tmux(t, ['cat']);
  const said: string[] = [];
  const panes = new TmuxPanes({ env: tmux.variables, say: (words) => said.push(words) });
  const file = join(tempDir(t), 'x.log');
  writeFileSync(file, '');
  panes.show('tester', file);
  await tmux.until((all) => all.size === 1);
  tmux.ask('kill-pane', '-t', '%1');
  panes.end('tester');
  panes.show('tester', file);
  await tmux.until((all) => all.size === 1);
  tmux.ask('kill-pane', '-t', '%2');
  panes.show('quality', file);
  await tmux.until((all) => [...all.keys()].join() === 'quality');
  await panes.close();
  assert.deepEqual(said, []);
});

test('tmux that dies is one line, and the end of panes', { skip }, async (t) => {
  const tmux = new Tmux(t, ['cat']);
  const said: string[] = [];
  const panes = new TmuxPanes({ env: tmux.variables, say: (words) => said.push(words) });
  const file = join(tempDir(t), 'x.log');
  writeFileSync(file, '');
  panes.show('backend-dev', file);
  await tmux.until((all) => all.size === 1);
  tmux.kill();
  panes.show('tester', file);
  panes.show('quality', file);
  await panes.close();
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /^No panes: tmux (list-panes|split-window|select-pane): .* \(panes_unavailable\)$/);
  assert.equal(panes.has('backend-dev'), false);
});

test('no tmux is one line as well', async () => {
  const said: string[] = [];
  const env = { PATH: '/nowhere', TMUX: '/nowhere,0,0', TMUX_PANE: '%0' };
  const panes = panesFor('auto', { env, say: (words) => said.push(words) });
  panes?.show('tester', '/nowhere/x.log');
  panes?.show('quality', '/nowhere/y.log');
  await panes?.close();
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', lineLike(NOTICE_CODES.panes_unavailable, { said: /.*\btmux: .*/ }));
});

test('panes are for a terminal in tmux, unless they are not wanted', () => {
  const said: string[] = [];
  const say = (words: string) => said.push(words);
  const inside = { TMUX: '/tmp/x,1,0' };
  assert.ok(panesFor('auto', { env: inside, say }) !== undefined);
  assert.ok(panesFor('tmux', { env: inside, say }) !== undefined);
  assert.equal(panesFor('inline', { env: inside, say }), undefined);
  assert.equal(panesFor('auto', { env: {}, say }), undefined);
  assert.equal(panesFor('tmux', { env: {}, say }), undefined);
  assert.deepEqual(said, []);
});

test('tmux that is asked for by name and not there is an error that says so', () => {
  for (const display of ['auto', 'inline', 'tmux'] as const) checkDisplay(display, { TMUX: '/tmp/x,1,0' });
  for (const display of ['auto', 'inline'] as const) checkDisplay(display, {});
  for (const env of [{}, { TMUX: '' }])
    assert.throws(() => checkDisplay('tmux', env), isOf(CLI_CODES.tmux_unavailable));
});
