// A real browser: Debian's Chromium, or the one that $CHROMIUM names, with everything switched off that talks to the network by itself.

import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type Cleanup, finallyDo } from './temp.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? PLACES.find((path) => existsSync(path));
  if (executablePath === undefined)
    throw new Error(`expected a Chromium at ${PLACES.join(' or ')}, or its path in $CHROMIUM`);
  return chromium.launch({
    executablePath,
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** Pages of one browser that all cases of a file share; each page has cookies of its own. */
export function pagesFor(file: Cleanup): (t: Cleanup, options?: BrowserContextOptions) => Promise<Page> {
  let launched: Promise<Browser> | undefined;
  finallyDo(file, async () => (await launched)?.close());
  return async (t, options = {}) => {
    launched ??= launchBrowser();
    const context = await (await launched).newContext(options);
    finallyDo(t, () => context.close());
    return context.newPage();
  };
}

/** An agent's script: says something, waits to be let on, says more, commits. */
export function patientAgent(directory: string): string {
  const wait = (file: string) => `while [ ! -e ${directory}/${file}-$TOOL_ISSUE ]; do sleep 0.05; done`;
  return [
    'cat >/dev/null',
    'echo "<i>reading</i> the code"',
    wait('on'),
    'echo "writing a test"',
    wait('end'),
    'echo x > x.txt',
    'git add -A',
    'git commit -qm "Do it"',
  ].join('\n');
}

/** What the page asked for, and what it complained of. */
export function listen(page: Page): { readonly hosts: Set<string>; readonly complaints: string[] } {
  const heard = { hosts: new Set<string>(), complaints: [] as string[] };
  page.on('request', (request) => heard.hosts.add(new URL(request.url()).hostname));
  page.on('console', (message) => {
    if (message.type() === 'error') heard.complaints.push(message.text());
  });
  page.on('pageerror', (error) => heard.complaints.push(error.message));
  return heard;
}
