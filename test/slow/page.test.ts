// The status page as people see it: a real browser on a real daemon.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Page } from 'playwright-core';
import { agentRunning } from '../support/agents.ts';
import { openBrowser } from '../support/browser.ts';
import { Daemon } from '../support/daemon.ts';
import { startForge } from '../support/forge.ts';

const TITLE = `<img src=x onerror="document.title='taken over'"><b>bold</b>`;

/** Says something, waits to be let on, says more, commits. */
function patientAgent(directory: string): string {
  const wait = (file: string) => `while [ ! -e ${directory}/${file}-$TOOL_ISSUE ]; do sleep 0.05; done`;
  return agentRunning(
    [
      'cat >/dev/null',
      'echo "<i>reading</i> the code"',
      wait('on'),
      'echo "writing a test"',
      wait('end'),
      'echo x > x.txt',
      'git add -A',
      'git commit -qm "Do it"',
    ].join('\n'),
  );
}

/** What the page asked for, and what it complained of. */
function listen(page: Page): { readonly hosts: Set<string>; readonly complaints: string[] } {
  const heard = { hosts: new Set<string>(), complaints: [] as string[] };
  page.on('request', (request) => heard.hosts.add(new URL(request.url()).hostname));
  page.on('console', (message) => {
    if (message.type() === 'error') heard.complaints.push(message.text());
  });
  page.on('pageerror', (error) => heard.complaints.push(error.message));
  return heard;
}

test('rows appear, change and move without a reload; a title with HTML does nothing; nothing leaves the machine', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.create(t, forge);
  daemon.write(patientAgent(daemon.directory));
  daemon.start();
  await daemon.state();
  const browser = await openBrowser(t);
  const page = await browser.newPage();
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

  await running.getByRole('link').focus();
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
  const browser = await openBrowser(t);
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${daemon.port}/`);
  await page.locator(`#wait-${issue}`).waitFor();
  const reached: string[] = [];
  for (let presses = 0; presses < 4; presses++) {
    await page.keyboard.press('Tab');
    reached.push(String(await page.evaluate('document.activeElement?.textContent')));
  }
  assert.deepEqual(reached, ['Poll now', `#${issue}`, 'state as JSON', 'metrics']);
  const outline = await page.evaluate('getComputedStyle(document.activeElement ?? document.body).outlineStyle');
  assert.equal(outline, 'solid', 'one sees where the focus is');
  for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await page.getByText('polling now').waitFor();
});

test('a narrow screen shows everything without scrolling sideways; without scripts the page is whole', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.create(t, forge);
  daemon.write(`${patientAgent(daemon.directory)}\nagent: { max_concurrent_agents: 2 }`);
  const long = await forge.open(`Averyveryverylongwordthatdoesnotbreakbyitself${'x'.repeat(80)}`);
  await forge.open('From outside', { author: 'stranger' });
  daemon.start();
  await daemon.until('the agent speaks', async () => (await daemon.state()).running[0]?.last_message !== null);
  const browser = await openBrowser(t);
  for (const javaScriptEnabled of [true, false]) {
    const context = await browser.newContext({ viewport: { width: 360, height: 740 }, javaScriptEnabled });
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${daemon.port}/`);
    const row = page.locator(`#run-${long}`);
    await row.getByText('<i>reading</i> the code').waitFor();
    assert.ok(await page.getByText('may not write').isVisible());
    const box = await row.boundingBox();
    assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 360, `row from ${box?.x}, ${box?.width} wide`);
    if (javaScriptEnabled) assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360);
    await context.close();
  }
});

test('what waits for a slot is folded, every other reason is whole, and the tables have names', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.create(t, forge);
  daemon.write(patientAgent(daemon.directory));
  const stranger = await forge.open('From outside', { author: 'stranger' });
  const first = await forge.open('At work');
  daemon.start();
  await daemon.until('the agent speaks', async () => (await daemon.state()).running[0]?.last_message !== null);
  const browser = await openBrowser(t);
  const page = await browser.newPage({ viewport: { width: 700, height: 740 } });
  const { complaints } = listen(page);
  await page.goto(`http://127.0.0.1:${daemon.port}/`);
  await page.getByText('live', { exact: true }).waitFor();
  for (const name of ['Running', 'Waiting']) await page.getByRole('table', { name, exact: true }).waitFor();
  assert.equal(await page.locator('summary:visible').count(), 0);

  const second = await forge.open('Waits');
  await page.getByText('Waits for a slot: 1').waitFor();
  assert.equal(await page.locator(`#wait-${second}`).isVisible(), false);
  await page.getByText('Waits for a slot: 1').click();
  await page.getByRole('table', { name: 'Waiting for a slot' }).getByText('waits for a slot').waitFor();

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
  const browser = await openBrowser(t);
  const page = await browser.newPage();
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
  daemon.write(patientAgent(daemon.directory));
  const issue = await forge.open('Do it');
  daemon.start();
  await daemon.logged('starting on issue');
  const browser = await openBrowser(t);
  const page = await browser.newPage();
  const { complaints } = listen(page);
  await page.goto(`http://127.0.0.1:${daemon.port}/`);
  await page.keyboard.type('letmein-0123456789');
  await page.keyboard.press('Enter');
  await page.getByText('live', { exact: true }).waitFor();
  complaints.length = 0;
  await page.getByRole('button', { name: `pause #${issue}` }).focus();
  await page.keyboard.press('Enter');
  await page.locator(`#wait-${issue}`).getByText('The issue is paused by tool pause.').waitFor();
  await page.getByRole('button', { name: `resume #${issue}` }).focus();
  await page.keyboard.press('Enter');
  await page.locator(`#run-${issue}`).getByText('agent', { exact: true }).waitFor();
  assert.deepEqual(complaints, []);

  const open = await Daemon.create(t, forge);
  open.write(patientAgent(open.directory));
  await daemon.stop();
  open.start();
  await open.logged('starting on issue');
  const other = await browser.newPage();
  await other.goto(`http://127.0.0.1:${open.port}/`);
  await other.locator(`#run-${issue}`).waitFor();
  assert.equal(await other.locator('button[data-steer]').first().isVisible(), false);
});
