// Base measurement of a team: the lead reports its failures early, and its checks end with the lead.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { execa, execaSync } from 'execa';
import { SPEC, shopProject } from '../support/shop-spec.ts';
import { type Cleanup, finallyDo } from '../support/temp.ts';
import { within } from '../support/within.ts';

test('what fails before any work is said by the lead, while there is time', async (t) => {
  const project = shopProject(t);
  const word = join(dirname(project.root), 'word');
  writeFileSync(
    join(project.root, '.tool', 'config', 'workflow.yaml'),
    JSON.stringify({
      workflow: { team: { enabled: true } },
      quality: { commands: { tests: "echo 'not ok 1 - adds'; exit 1" } },
    }),
  );
  project.git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qam', 'A test that fails');
  project.before = `while [ -d '${dirname(project.root)}' ] && [ ! -e '${word}' ]; do sleep 0.05; done; exit 1; `;
  const lead = project.start('run', SPEC, '--team');
  finallyDo(t, () => lead.kill('SIGKILL'));
  finallyDo(t, () => writeFileSync(word, ''));
  let said = '';
  const told = new Promise<void>((resolve) => {
    lead.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      if (said.includes('tests: 1 test fails: adds (checks_failed_before)')) resolve();
    });
  });
  const ended = once(lead, 'close');
  await within('the lead says what fails', told, () => said);
  writeFileSync(word, '');
  await within('the lead ends', ended, () => said);
});

/** A lead in a base measurement without end; its teammates wait for the file `word`, and then fail. */
async function measuring(t: Cleanup) {
  const project = shopProject(t);
  const place = dirname(project.root);
  const [pipe, word] = [join(place, 'told'), join(place, 'word')];
  execaSync`mkfifo ${pipe}`;
  // Every live process of the check holds the pipe open.
  const tests = `exec 7>'${pipe}'; echo begun >&7; sleep 1000 & wait`;
  writeFileSync(
    join(project.root, '.tool', 'config', 'workflow.yaml'),
    JSON.stringify({ workflow: { team: { enabled: true } }, quality: { commands: { tests } } }),
  );
  project.git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qam', 'Tests without end');
  project.before = `while [ -d '${place}' ] && [ ! -e '${word}' ]; do sleep 0.05; done; exit 1; `;
  const told = execa({ buffer: false, reject: false })`cat ${pipe}`;
  finallyDo(t, () => told.kill('SIGKILL'));
  const isOver = once(told, 'close');
  const begun = once(createInterface({ input: told.stdout }), 'line');
  const lead = project.start('run', SPEC, '--team');
  let said = '';
  for (const stream of [lead.stdout, lead.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
    });
  finallyDo(t, () => lead.kill('SIGKILL'));
  finallyDo(t, () => writeFileSync(word, ''));
  const ended = once(lead, 'close');
  await within('the measuring begins', begun, () => said);
  return { lead, ended, isOver, say: () => writeFileSync(word, ''), said: () => said };
}

for (const signal of ['SIGINT', 'SIGKILL'] as const)
  test(`${signal} of the lead`, async (t) => {
    const { lead, ended, isOver, say, said } = await measuring(t);
    lead.kill(signal);
    await within('what is measured ends', isOver, said);
    // A killed lead ends no teammates; the file does.
    if (signal === 'SIGKILL') say();
    const [code] = await within('the lead ends', ended, said);
    assert.equal(code, signal === 'SIGKILL' ? null : 130, said());
  });

test('the end of the lead, which waits for nothing that is still measured', async (t) => {
  const { ended, isOver, say, said } = await measuring(t);
  say();
  const [code] = await within('the lead ends', ended, said);
  assert.equal(code, 1, said());
  await within('what is measured ends', isOver, said);
});
