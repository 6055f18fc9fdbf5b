// The page of one issue as people see it: a real browser on a real daemon.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import type { Page } from 'playwright-core';
import { HTTP_CODES } from '../../src/daemon/rules/codes/http-codes.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { agentRunning } from '../support/agents.ts';
import { listen, pagesFor, patientAgent } from '../support/browser.ts';
import { wordsOf } from '../support/codes.ts';
import { Daemon } from '../support/daemon.ts';
import { BASE, fields, startForge } from '../support/forge.ts';

const newPage = pagesFor({ after });

/** Controls that a finger would miss, and how far the page scrolls sideways. */
const TOUCH = `(() => {
  const small = [...document.querySelectorAll('a:not(.skip),button,input,summary')].filter((one) => one.offsetParent !== null && (one.offsetHeight < 44 || one.offsetWidth < 44)).map((one) => one.outerHTML);
  return { small, width: document.documentElement.scrollWidth };
})()`;

async function fitsPhone(page: Page): Promise<void> {
  assert.deepEqual(await page.evaluate(TOUCH), { small: [], width: 390 });
}

test('from the list to the issue: attempts, events, output and pull request follow without a reload', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.create(t, forge);
  daemon.write([agentRunning(patientAgent(daemon.directory)), 'follow: { until: approved }'].join('\n'));
  const issue = await forge.open('Do <b>it</b>');
  daemon.start();
  await daemon.state();
  const page = await newPage(t);
  const { hosts, complaints } = listen(page);
  await page.goto(`http://127.0.0.1:${daemon.port}/`);
  await page.getByRole('link', { name: 'Do <b>it</b>' }).click();
  await page.waitForURL(`**/issues/${issue}`);
  await page.getByText('live', { exact: true }).waitFor();
  const output = page.locator('#output');
  await output.getByText('<i>reading</i> the code').waitFor();
  assert.equal(await page.locator('main i, main b, h1 b').count(), 0);
  await page.locator('#attempt-1-1').getByText('under way').waitFor();
  await page.locator('#story').getByText('attempt 1 begins with command').waitFor();
  await page.evaluate("document.documentElement.setAttribute('data-same-page', 'yes')");

  await page.getByRole('button', { name: 'Stop following' }).focus();
  await page.keyboard.press('Enter');
  const before = (await page.locator('#output-at').textContent()) ?? '';
  writeFileSync(join(daemon.directory, `on-${issue}`), '');
  await page.locator('#output-at', { hasNotText: before }).waitFor({ state: 'attached' });
  assert.doesNotMatch(await output.innerText(), /writing a test/, 'nothing comes while it does not follow');
  await page.getByRole('button', { name: 'Follow' }).click();
  await output.getByText('writing a test').waitFor();

  writeFileSync(join(daemon.directory, `end-${issue}`), '');
  await page.locator('#state').getByText('is followed and waits').waitFor();
  await page.locator('#attempt-1-1').getByText('succeeded').waitFor();
  const [pull] = await forge.pulls();
  const { data } = await forge.forge.call('maintainer', 'GET', `${BASE}/pulls/${pull?.number}`);
  forge.forge.checks.start(String(fields(fields(data).head).sha), 'build');
  const state = page.locator('#pull');
  await state.getByRole('link', { name: 'build' }).waitFor();
  await state.getByText('pending', { exact: true }).waitFor();
  assert.equal(
    await state.getByRole('link').first().getAttribute('href'),
    `${forge.forge.url}/maintainer/project/pull/${pull?.number}`,
  );
  assert.equal(await page.evaluate("document.documentElement.getAttribute('data-same-page')"), 'yes');

  await page.reload();
  await output.getByText('writing a test').waitFor();
  await page.getByRole('link', { name: 'as text' }).click();
  await page.getByText('<i>reading</i> the code').waitFor();
  assert.deepEqual([...hosts], ['127.0.0.1']);
  assert.deepEqual(complaints, []);

  const unknown = await page.goto(`http://127.0.0.1:${daemon.port}/issues/99`);
  assert.equal(unknown?.status(), 404);
  await page.getByText(wordsOf(HTTP_CODES.issue_unknown, { issue: 99 })).waitFor();
  await page.getByRole('link', { name: 'All issues' }).click();
  await page.locator(`#follow-${issue}`).waitFor();

  const colours = new Set<unknown>();
  for (const colorScheme of ['light', 'dark'] as const) {
    const phone = await newPage(t, { viewport: { width: 390, height: 800 }, colorScheme });
    for (const path of ['', `issues/${issue}`]) {
      await phone.goto(`http://127.0.0.1:${daemon.port}/${path}`);
      await phone.getByText('live', { exact: true }).waitFor();
      await fitsPhone(phone);
    }
    colours.add(await phone.evaluate('getComputedStyle(document.body).backgroundColor'));
  }
  assert.equal(colours.size, 2, 'light and dark differ');
});

test('a link to an issue leads there after the token, and the keyboard pauses the issue there', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.create(t, forge, { server: 'token: letmein-0123456789' });
  daemon.write(agentRunning(patientAgent(daemon.directory)));
  const issue = await forge.open('Do it');
  daemon.start();
  await daemon.logged('starting on issue');
  const page = await newPage(t, { viewport: { width: 390, height: 800 } });
  const { complaints } = listen(page);
  await page.goto(`http://127.0.0.1:${daemon.port}/issues/${issue}`);
  await fitsPhone(page);
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('That is not the token.').waitFor();
  await page.keyboard.type('letmein-0123456789');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/issues/${issue}`);
  await page.getByText('live', { exact: true }).waitFor();
  complaints.length = 0;
  await fitsPhone(page);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate('document.activeElement?.textContent'), 'Skip to the content');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate('document.activeElement?.textContent'), 'pause');
  await page.keyboard.press('Enter');
  await page.locator('#state').getByText(wordsOf(WORK_CODES.issue_paused, {})).waitFor();
  await page.getByRole('button', { name: `resume #${issue}` }).focus();
  await page.keyboard.press('Enter');
  await page.locator('#state').getByText('agent', { exact: true }).waitFor();
  await page.locator('#attempt-1-2').getByText('under way').waitFor();
  assert.match(await page.locator('#attempts').innerText(), /^1\b.*\n2\b/s, 'in their order');
  for (const step of ['on', 'end']) writeFileSync(join(daemon.directory, `${step}-${issue}`), '');
  const pull = page.locator('#pull');
  await pull.getByText(/Opened 20\S+Z, last commit of the daemon [0-9a-f]{12}\./).waitFor();
  await pull.getByText('It is not followed').waitFor();
  assert.deepEqual(complaints, []);
});
