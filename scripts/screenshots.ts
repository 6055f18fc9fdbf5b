// Makes the pictures of the README from the demo and a team as they are: terminals in tmux, the page in Chromium.
// usage: tsx scripts/screenshots.ts [terminal] [team] [board] [page]; without any, all of them.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa, execaSync } from 'execa';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../test/support/browser.ts';
import { playTeam } from './played-team.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const images = join(root, 'docs', 'images');
const cli = join(root, 'dist', 'cli.js');
const COLUMNS = 108;

const COLOURS: Readonly<Record<string, string>> = {
  '31': '#ff8a80',
  '32': '#4cc38a',
  '33': '#e0a84a',
  '36': '#6cc7e0',
  '39': 'inherit',
};

/** What a terminal shows, as HTML: text and the few colours that the demo uses. */
function htmlOf(screen: string): string {
  let colour = 'inherit';
  let weight = 'normal';
  const body = screen
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are set by control characters
    .replaceAll(/\u001b\[([\d;]*)m/g, (_, codes: string) => {
      for (const code of codes.split(';')) {
        if (code === '0' || code === '') [colour, weight] = ['inherit', 'normal'];
        if (code === '1' || code === '22') weight = code === '1' ? 'bold' : 'normal';
        colour = COLOURS[code] ?? colour;
      }
      return `</span><span style="color:${colour};font-weight:${weight}">`;
    });
  return `<body style="margin:0;background:#11151d"><pre style="display:inline-block;margin:0;padding:20px 24px;color:#e7ebf3;font:14px/1.4 'DejaVu Sans Mono',monospace"><span>${body}</span></pre></body>`;
}

/** What a terminal shows once a command there has got so far. */
async function screenOf(command: string, rows: number, until: string): Promise<string> {
  const socket = join(mkdtempSync(join(tmpdir(), 'toolcrew-pictures-')), 'tmux');
  const tmux = (...args: string[]) => execaSync('tmux', ['-S', socket, ...args]).stdout;
  try {
    tmux('new-session', '-d', '-x', String(COLUMNS), '-y', String(rows), '-s', 'demo', 'bash --norc --noprofile');
    tmux('send-keys', '-t', 'demo', `clear; PS1='$ '; alias tool='node ${cli}'; clear`, 'Enter');
    await delay(500);
    tmux('send-keys', '-t', 'demo', command, 'Enter');
    let screen = '';
    while (!screen.includes(until)) {
      await delay(200);
      screen = tmux('capture-pane', '-e', '-p', '-t', 'demo');
    }
    return screen;
  } finally {
    tmux('kill-server');
    rmSync(dirname(socket), { recursive: true, force: true });
  }
}

async function picture(browser: Browser, lines: readonly string[], name: string): Promise<void> {
  const page = await browser.newPage({ deviceScaleFactor: 1.5 });
  await page.setContent(htmlOf(lines.join('\n')));
  await page.locator('pre').screenshot({ path: join(images, name) });
  await page.close();
}

/** A team in the middle of its work. */
async function board(browser: Browser): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'toolcrew-pictures-'));
  try {
    await playTeam(place);
    const screen = await screenOf(`cd ${place} && clear && tool team board`, 31, 'Next:');
    await picture(browser, screen.trimEnd().split('\n'), 'board.png');
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function terminal(browser: Browser): Promise<void> {
  const screen = await screenOf('tool demo', 60, 'To look around');
  const lines = screen.trimEnd().split('\n');
  const from = lines.findLastIndex((line) => line.includes('$ tool demo'));
  await picture(
    browser,
    lines.slice(from).filter((line) => !/^(bash.*)?\$ *$/.test(line)),
    'terminal.png',
  );
}

/** The team of the demo, when one of it has asked for a change in another's file. */
async function team(browser: Browser): Promise<void> {
  const screen = await screenOf('tool demo --team', 40, 'Change asked for');
  const lines = screen.trimEnd().split('\n');
  const from = lines.findLastIndex((line) => line.includes('$ tool demo --team'));
  await picture(browser, lines.slice(from), 'demo-team.png');
}

async function statusPage(browser: Browser): Promise<void> {
  const demo = execa('node', [cli, 'demo', '--keep', '--issues', '9'], { reject: false, buffer: false });
  try {
    let said = '';
    demo.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    const page = await browser.newPage({ viewport: { width: 1180, height: 300 }, deviceScaleFactor: 1.5 });
    while (!/dashboard +http/.test(said)) await delay(20);
    const url = /dashboard +(http:\S+)/.exec(said)?.[1] ?? '';
    // The daemon may not listen yet.
    while (!(await page.goto(url).catch(() => null))) await delay(50);
    await page.locator('#running tr').first().waitFor();
    await page.locator('#completed tr:nth-child(2)').waitFor();
    await page.locator('#waiting tr').first().waitFor();
    await page.screenshot({ path: join(images, 'page.png'), fullPage: true });
    await page.close();
  } finally {
    demo.kill('SIGINT');
    await demo;
  }
}

const PICTURES = { terminal, team, board, page: statusPage } as const;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(PICTURES, name));
if (unknown.length > 0)
  throw new Error(`expected ${Object.keys(PICTURES).join(', ')} or nothing, got ${unknown.join(', ')}`);
mkdirSync(images, { recursive: true });
const browser = await launchBrowser();
for (const [name, make] of Object.entries(PICTURES))
  if (wanted.length === 0 || wanted.includes(name)) await make(browser);
await browser.close();
