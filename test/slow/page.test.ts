// The status page as people see it: a real browser on a real daemon.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, type TestContext } from 'node:test';
import { WAITS_FOR_SLOT_TEXT } from '../../src/daemon/intake.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { cut, FIRST_PAGE } from '../../src/daemon/view-page.ts';
import { StatusServer } from '../../src/web/server.ts';
import { agentRunning } from '../support/agents.ts';
import { listen, pagesFor, patientAgent } from '../support/browser.ts';
import { wordsOf } from '../support/codes.ts';
import { Daemon } from '../support/daemon.ts';
import { startForge } from '../support/forge.ts';
import { finallyDo } from '../support/temp.ts';
import { NO_HISTORY, viewWith } from '../support/view.ts';

const TITLE = `<img src=x onerror="document.title='taken over'"><b>bold</b>`;

const newPage = pagesFor({ after });

test('rows appear, change and move without a reload; a title with HTML does nothing; nothing leaves the machine', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.create(t, forge);
  daemon.write(agentRunning(patientAgent(daemon.directory)));
  daemon.start();
  await daemon.state();
  const page = await newPage(t);
  const { hosts, complaints } = listen(page);
  await page.goto(`http://127.0.0.1:${daemon.port}/`);
  await page.getByText('No agent is at work.').waitFor();
  await page.getByText('live', { exact: true }).waitFor();
  await page.evaluate("document.documentElement.setAttribute('data-same-page', 'yes')");
  const issue = await forge.open(TITLE);
  const running = page.locator(`#run-${issue}`);
  await running.getByText('<i>reading</i> the code').waitFor();
  assert.ok((await running.innerText()).includes(TITLE));
  assert.equal(await page.locator('img, main b b, main i').count(), 0);
  assert.equal(await page.title(), 'toolcrew · maintainer/project');

  await running.getByRole('link').first().focus();
  writeFileSync(join(daemon.directory, `on-${issue}`), '');
  await running.getByText('writing a test').waitFor();
  assert.equal(
    await page.evaluate('document.activeElement?.textContent'),
    `#${issue}`,
    'the focus stays where it was when the row changes',
  );

  writeFileSync(join(daemon.directory, `end-${issue}`), '');
  const done = page.locator(`tr[id^=done-${issue}-]`);
  await done.waitFor();
  assert.match(await done.innerText(), /done/);
  const href = await done.getByRole('link').last().getAttribute('href');
  const [pull] = await forge.pulls();
  assert.equal(href, `${forge.forge.url}/maintainer/project/pull/${pull?.number}`);
  await page.getByText('No agent is at work.').waitFor();

  const waiting = await forge.open('From outside', { author: 'stranger' });
  await page.locator(`#wait-${waiting}`).getByText('stranger, who wrote it, may not write').waitFor();

  assert.equal(await page.evaluate("document.documentElement.getAttribute('data-same-page')"), 'yes');
  assert.deepEqual([...hosts], ['127.0.0.1']);
  assert.deepEqual(complaints, []);

  // The daemon goes and comes back: the page says so and goes on by itself.
  await daemon.stop();
  await page.getByText('not connected').waitFor();
  daemon.log = '';
  daemon.start();
  await daemon.state();
  await page.getByText('live', { exact: true }).waitFor();
  await done.waitFor();
  assert.equal(await page.evaluate("document.documentElement.getAttribute('data-same-page')"), 'yes');
});

test('the keyboard alone does', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('From outside', { author: 'stranger' });
  const daemon = await Daemon.start(t, forge);
  await daemon.state();
  const page = await newPage(t);
  await page.goto(`http://127.0.0.1:${daemon.port}/`);
  await page.locator(`#wait-${issue}`).waitFor();
  const reached: string[] = [];
  for (let presses = 0; presses < 7; presses++) {
    await page.keyboard.press('Tab');
    reached.push(String(await page.evaluate('document.activeElement?.textContent || document.activeElement?.id')));
  }
  assert.deepEqual(reached, [
    'Skip to the content',
    'Poll now',
    'find',
    `#${issue}`,
    'From outside',
    'state as JSON',
    'metrics',
  ]);
  const outline = await page.evaluate('getComputedStyle(document.activeElement ?? document.body).outlineStyle');
  assert.equal(outline, 'solid', 'one sees where the focus is');
  for (let presses = 0; presses < 5; presses++) await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await page.getByText('polling now').waitFor();
  await page.keyboard.press('j');
  assert.equal(await page.evaluate('document.activeElement?.id'), `wait-${issue}-title`);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/issues/${issue}`);
});

test('a narrow screen shows everything without scrolling sideways; without scripts the page is whole', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.create(t, forge);
  daemon.write(`${agentRunning(patientAgent(daemon.directory))}\nagent: { max_concurrent_agents: 2 }`);
  const long = await forge.open(`Averyveryverylongwordthatdoesnotbreakbyitself${'x'.repeat(80)}`);
  await forge.open('From outside', { author: 'stranger' });
  daemon.start();
  await daemon.until('the agent speaks', async () => (await daemon.state()).running[0]?.last_message !== null);
  for (const javaScriptEnabled of [true, false]) {
    const page = await newPage(t, { viewport: { width: 360, height: 740 }, javaScriptEnabled });
    await page.goto(`http://127.0.0.1:${daemon.port}/`);
    const row = page.locator(`#run-${long}`);
    await row.getByText('<i>reading</i> the code').waitFor();
    assert.ok(await page.getByText('may not write').isVisible());
    const box = await row.boundingBox();
    assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 360, `row from ${box?.x}, ${box?.width} wide`);
    if (javaScriptEnabled) assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360);
  }
});

test('what waits for a slot is folded, every other reason is whole, and the tables have names', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.create(t, forge);
  daemon.write(agentRunning(patientAgent(daemon.directory)));
  const stranger = await forge.open('From outside', { author: 'stranger' });
  const first = await forge.open('At work');
  daemon.start();
  await daemon.until('the agent speaks', async () => (await daemon.state()).running[0]?.last_message !== null);
  const page = await newPage(t, { viewport: { width: 700, height: 740 } });
  const { complaints } = listen(page);
  await page.goto(`http://127.0.0.1:${daemon.port}/`);
  await page.getByText('live', { exact: true }).waitFor();
  for (const name of ['Running', 'Waiting']) await page.getByRole('table', { name, exact: true }).waitFor();
  assert.equal(await page.locator('summary:visible').count(), 0);

  const second = await forge.open('Waits');
  await page.getByText('Waits for a slot: 1').waitFor();
  assert.equal(await page.locator(`#wait-${second}`).isVisible(), false);
  await page.getByText('Waits for a slot: 1').click();
  await page.getByRole('table', { name: 'Waiting for a slot' }).getByText(WAITS_FOR_SLOT_TEXT).first().waitFor();

  const why = page.locator(`#wait-${stranger} td`).last();
  const [shown, needed] = [
    await why.evaluate('(cell) => cell.clientWidth'),
    await why.evaluate('(cell) => cell.scrollWidth'),
  ];
  assert.equal(shown, needed, 'no word of the reason is out of sight');
  const box = await why.boundingBox();
  assert.ok(box !== null && box.x + box.width <= 700);

  writeFileSync(join(daemon.directory, `on-${first}`), '');
  writeFileSync(join(daemon.directory, `end-${first}`), '');
  await page.locator(`#run-${second}`).waitFor();
  assert.equal(await page.locator('summary:visible').count(), 0);
  assert.equal(await page.locator(`#wait-${second}`).count(), 0);
  assert.deepEqual(complaints, []);
});

test('with a token the page asks for it once', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.start(t, forge, { server: 'token: letmein-0123456789' });
  await daemon.logged('status on');
  const page = await newPage(t);
  await page.goto(`http://127.0.0.1:${daemon.port}/`);
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('That is not the token.').waitFor();
  await page.keyboard.type('letmein-0123456789');
  await page.keyboard.press('Enter');
  await page.getByText('No agent is at work.').waitFor();
  await page.getByText('live', { exact: true }).waitFor();
  await page.reload();
  await page.getByText('No agent is at work.').waitFor();
});

test('on a page opened with the token the keyboard pauses and resumes an issue; without one there is no button', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.create(t, forge, { server: 'token: letmein-0123456789' });
  daemon.write(agentRunning(patientAgent(daemon.directory)));
  const issue = await forge.open('Do it');
  daemon.start();
  await daemon.logged('starting on issue');
  const page = await newPage(t);
  const { complaints } = listen(page);
  await page.goto(`http://127.0.0.1:${daemon.port}/`);
  await page.keyboard.type('letmein-0123456789');
  await page.keyboard.press('Enter');
  await page.getByText('live', { exact: true }).waitFor();
  complaints.length = 0;
  await page.getByRole('button', { name: `pause #${issue}` }).focus();
  await page.keyboard.press('Enter');
  await page.locator(`#wait-${issue}`).getByText(wordsOf(WORK_CODES.issue_paused, {})).waitFor();
  await page.getByRole('button', { name: `resume #${issue}` }).focus();
  await page.keyboard.press('Enter');
  await page.locator(`#run-${issue}`).getByText('agent', { exact: true }).waitFor();
  assert.deepEqual(complaints, []);

  const open = await Daemon.create(t, forge);
  open.write(agentRunning(patientAgent(open.directory)));
  await daemon.stop();
  open.start();
  await open.logged('starting on issue');
  const other = await newPage(t);
  await other.goto(`http://127.0.0.1:${open.port}/`);
  await other.locator(`#run-${issue}`).waitFor();
  assert.equal(await other.locator('button[data-steer]').first().isVisible(), false);
});

/** A server that shows so many issues that wait, newest first. */
async function crowded(t: TestContext, issues: number) {
  const [first] = viewWith().queued;
  assert.ok(first !== undefined);
  const world = { title: 'Waits', listener: () => {} };
  const state = (page = FIRST_PAGE) => {
    const all = Array.from({ length: issues }, (_, index) => ({
      ...first,
      issue_number: index + 1,
      title: `${index % 100 === 0 ? 'Round' : world.title} number`,
      reason: index % 2 === 0 ? 'stranger may not write' : WAITS_FOR_SLOT_TEXT,
      labels: index === 1_234 ? ['Needle'] : [],
    }));
    const { rows, next, more } = cut('queued', all, ({ issue_number: issue }) => [issue, 0], page);
    const view = viewWith();
    return { ...view, queued: rows, next: { ...view.next, queued: next }, more: { ...view.more, queued: more } };
  };
  const server = new StatusServer({
    source: {
      state,
      issue: () => undefined,
      history: () => NO_HISTORY,
      output: () => undefined,
      refresh: () => ({ coalesced: false }),
      steer: () => assert.fail(),
      tell: () => assert.fail(),
      onChange: (listener) => {
        world.listener = listener;
        return () => undefined;
      },
      now: () => 0,
    },
    log: { log: () => undefined },
    host: '127.0.0.1',
    port: 0,
    allowedHosts: ['localhost'],
    token: null,
    webhook: null,
  });
  await server.listen();
  finallyDo(t, () => server.close());
  return { url: server.url, world };
}

test('a search finds rows of all tables among 2,000 issues, stays in the address, and survives changes', async (t) => {
  const { url, world } = await crowded(t, 2_000);
  const page = await newPage(t);
  const { complaints } = listen(page);
  await page.goto(url);
  await page.getByText('live', { exact: true }).waitFor();
  const found = page.locator('#found');
  const shown = () => page.locator('tr[data-into]:visible');
  await page.keyboard.press('/');
  await page.keyboard.type('round STRANGER');
  await found.getByText('20 of 2004 issues').waitFor();
  assert.equal(await shown().count(), 20);
  assert.match(page.url(), /\?q=round\+STRANGER$/);
  assert.equal(await page.locator('#running').isVisible(), false, 'a table without a row that is found is hidden');
  await page.reload();
  await found.getByText('20 of 2004 issues').waitFor();
  assert.equal(await page.locator('#find').inputValue(), 'round STRANGER');
  for (const [words, count] of [
    ['#1777', 1],
    ['needle', 1],
    ['second broke', 1],
    ['agent', 1],
    ['retrying', 1],
    ['tool-todo', 1],
    ['failed', 1],
    ['nowhere', 0],
  ] as const) {
    await page.locator('#find').fill(words);
    await found.getByText(`${count} of 2004 issues`).waitFor();
    assert.equal(await shown().count(), count, words);
  }
  await page.locator('#find').fill('changed');
  await found.getByText('0 of 2004 issues').waitFor();
  world.title = 'Changed';
  world.listener();
  await page.locator('#wait-2000').waitFor();
  assert.equal(await page.locator('#wait-1901').isVisible(), false, 'a row that came meanwhile is filtered, too');
  await page.keyboard.press('Escape');
  await page.locator('#wait-1901').waitFor();
  assert.equal(await found.innerText(), '');
  assert.equal(new URL(page.url()).search, '');
  await page.locator('#wait-1').waitFor({ state: 'detached' });
  assert.equal(await page.locator('tr[data-into]').count(), 104);
  assert.deepEqual(complaints, []);
});
