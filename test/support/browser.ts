// A real browser: Debian's Chromium, or the one that $CHROMIUM names, with everything switched off that talks to the network by itself.

import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
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

export async function openBrowser(t: Cleanup): Promise<Browser> {
  const browser = await launchBrowser();
  finallyDo(t, () => browser.close());
  return browser;
}
