// `tool demo --team`: a team of four on one task, with no account, no key and no network; then the same, one at a time.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { shellQuoted } from '../adapters/agent-home.ts';
import { git } from '../adapters/git/git.ts';
import { packageRoot } from '../adapters/package-root.ts';
import { ToolError } from '../domain/errors.ts';
import { TEAMS_VARIABLE } from '../domain/team/fallback.ts';
import { visible } from '../domain/text.ts';
import { SCRIPT_VARIABLE } from './agent-teammate.ts';
import { DEMO_FILES, DEMO_SCRIPT, DEMO_SPEC } from './demo-team-project.ts';
import type { RunReport } from './run-report.ts';

export type TeamDemoOptions = { readonly keep?: boolean; readonly json?: boolean };

const PERSON = {
  GIT_AUTHOR_NAME: 'maintainer',
  GIT_AUTHOR_EMAIL: 'maintainer@localhost',
  GIT_COMMITTER_NAME: 'maintainer',
  GIT_COMMITTER_EMAIL: 'maintainer@localhost',
};

async function makeProject(root: string): Promise<void> {
  for (const [path, text] of Object.entries(DEMO_FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: root, ...PERSON };
  await git(['init', '-q', '-b', 'main', '.'], { cwd: root, env });
  await git(['add', '-A'], { cwd: root, env });
  await git(['commit', '-q', '-m', 'A guest book'], { cwd: root, env });
}

/** Runs `tool run` as anybody would, and gives what it reports. */
async function build(root: string, home: string, flags: readonly string[], isQuiet: boolean): Promise<RunReport> {
  const cli = join(packageRoot(), 'dist', 'cli.js');
  const { PATH, LANG, TMPDIR } = process.env;
  const script = join(home, 'script.json');
  writeFileSync(script, JSON.stringify(DEMO_SCRIPT));
  const words = [process.execPath, cli, 'agent', 'teammate'].map(shellQuoted).join(' ');
  const player = `${SCRIPT_VARIABLE}=${shellQuoted(script)} exec ${words}`;
  const child = spawn(process.execPath, [cli, 'run', DEMO_SPEC, ...flags, '--json', '--command', player], {
    cwd: root,
    stdio: ['ignore', 'pipe', isQuiet ? 'ignore' : 'inherit'],
    env: { PATH, LANG, TMPDIR, HOME: home, [TEAMS_VARIABLE]: '1' },
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0) throw new ToolError('internal', `the run ended with ${code}: ${text}`);
  const report: RunReport = JSON.parse(text);
  return report;
}

export async function demoTeamCommand(options: TeamDemoOptions): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'toolcrew-demo-'));
  const isQuiet = options.json === true;
  try {
    const [team, solo] = [join(home, 'team'), join(home, 'solo')];
    for (const root of [team, solo]) {
      mkdirSync(root);
      await makeProject(root);
    }
    const together = await build(team, home, ['--team', '--pattern=quality_gate'], isQuiet);
    const alone = await build(solo, home, ['--solo'], true);
    const { tasks, messages, rejections, gate, branch, files, seconds } = together;
    if (isQuiet) {
      const shown = { tasks, messages, rejections, gate, branch, files, seconds, solo_seconds: alone.seconds };
      process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
      return;
    }
    for (const task of tasks)
      process.stdout.write(
        `${task.id.padStart(4)}  ${task.outcome.padEnd(11)} ${(task.owner ?? '–').padEnd(13)} ${(task.seconds ?? 0).toFixed(1).padStart(5)} s  ${visible(task.subject)}\n`,
      );
    process.stdout.write(
      `\n  ${messages} messages, ${rejections} rejected completions, ${files} files on ${branch}\n  ${seconds.toFixed(1)} s as a team; ${alone.seconds.toFixed(1)} s one after the other\n`,
    );
    if (options.keep === true) process.stdout.write(`  left in ${home}\n`);
  } finally {
    if (options.keep !== true) rmSync(home, { recursive: true, force: true });
  }
}
