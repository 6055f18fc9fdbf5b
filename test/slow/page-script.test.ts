// The script of the pages in a real browser: its connection, the output that it follows, rows from beyond the page.

import assert from 'node:assert/strict';
import test, { after, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { cut, FIRST_PAGE } from '../../src/daemon/view-page.ts';
import { StatusServer } from '../../src/web/server.ts';
import { listen, pagesFor } from '../support/browser.ts';
import { finallyDo } from '../support/temp.ts';
import { issueWith, NO_HISTORY, viewWith } from '../support/view.ts';

const newPage = pagesFor({ after });

/** A server of 150 issues that wait; of the first issue, an output that grows. */
async function serving(t: TestContext, token: string | null = null) {
  const world = { newest: 150, title: 'Waits', told: 40, written: 'x'.repeat(60), listener: () => {} };
  const [first] = viewWith().queued;
  assert.ok(first !== undefined);
  const state = (page = FIRST_PAGE) => {
    const all = Array.from({ length: world.newest }, (_, index) => ({
      ...first,
      issue_number: index + 1,
      title: `${world.title} ${index + 1}`,
    }));
    const { rows, next, more } = cut('queued', all, ({ issue_number: issue }) => [issue, 0], page);
    const view = viewWith();
    return { ...view, queued: rows, next: { ...view.next, queued: next }, more: { ...view.more, queued: more } };
  };
  const server = new StatusServer({
    source: {
      state,
      issue: () => issueWith({ phase: 'running', failures: world.newest }),
      history: () => ({ ...NO_HISTORY, story: [{ at: 0, words: world.title }] }),
      output: (_, asked) => {
        if (asked?.from === Number.POSITIVE_INFINITY) return { name: '1-2', from: 0, to: world.told, text: '' };
        const from = asked?.from ?? 0;
        return { name: '1-2', from, to: world.written.length, text: world.written.slice(from) };
      },
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
    token,
    webhook: null,
  });
  await server.listen();
  finallyDo(t, () => server.close());
  return { url: server.url, world };
}

/** Keeps the page's connections at hand, and shortens its pauses. */
const WATCHED = `
  window.sources = [];
  const [Source, later] = [EventSource, setTimeout];
  window.EventSource = class extends Source { constructor(url) { super(url); window.sources.push(this); } };
  window.setTimeout = (act, ms) => later(act, Math.min(ms, 50));
`;

async function watchedPage(t: TestContext): Promise<Page> {
  const page = await newPage(t);
  await page.addInitScript(WATCHED);
  return page;
}

async function hide(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
  );
}

const live = (page: Page) => page.getByText('live', { exact: true });
const states = (page: Page) => page.evaluate('window.sources.map((one) => one.readyState)');

test('a page that nobody looks at has no connection; when it is shown again, it catches up', async (t) => {
  const { url, world } = await serving(t);
  const page = await watchedPage(t);
  const { complaints } = listen(page);
  await page.goto(url);
  await live(page).waitFor();
  await hide(page, true);
  assert.deepEqual(await states(page), [2]);
  world.title = 'Changed';
  await hide(page, false);
  await page.getByText('Changed 150').waitFor();
  await live(page).waitFor();
  assert.deepEqual(await states(page), [2, 1]);
  assert.deepEqual(complaints, []);
});

test('after an answer that is no stream the page connects again, or asks for the token', async (t) => {
  const { url } = await serving(t, 'letmein-0123456789');
  const page = await watchedPage(t);
  await page.goto(url);
  await page.getByLabel('Token').fill('letmein-0123456789');
  await page.keyboard.press('Enter');
  await live(page).waitFor();
  const events = '**/api/v1/events*';
  let refused = 0;
  const again = new Promise<void>((resolve) => {
    void page.route(events, async (route) => {
      refused += 1;
      if (refused > 2) resolve();
      await route.fulfill({ status: 502 });
    });
  });
  await hide(page, true);
  await hide(page, false);
  await again;
  await page.getByText('not connected').waitFor();
  await page.unroute(events);
  await live(page).waitFor();
  await page.context().clearCookies();
  await hide(page, true);
  await hide(page, false);
  await page.getByLabel('Token').waitFor();
});

test('an output of which the page has more than it was told is not asked for, and goes on when it grows', async (t) => {
  const { url, world } = await serving(t);
  const page = await watchedPage(t);
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/output')) asked.push(new URL(request.url()).search);
  });
  await page.goto(`${url}/issues/1`);
  await live(page).waitFor();
  world.title = 'Changed';
  world.listener();
  await page.getByText('Changed').waitFor();
  assert.deepEqual(asked, []);
  world.written += ' and more';
  world.told = world.written.length;
  world.listener();
  await page.locator('#output').getByText('and more').waitFor();
  assert.deepEqual(asked, ['?of=1-2&from=60']);
});

test('a row that a search found beyond the page, and that comes onto it, is a row of the page', async (t) => {
  const { url, world } = await serving(t);
  const page = await newPage(t);
  await page.goto(`${url}/?q=waits`);
  await page.locator('#wait-20[data-beyond]').waitFor();
  world.newest = 110;
  world.listener();
  await page.locator('#wait-150').waitFor({ state: 'detached' });
  await page.locator('#wait-20:not([data-beyond])').waitFor();
  assert.equal(await page.locator('#wait-5[data-beyond]').count(), 1);
});
