// The tasks of the demo's team again, one at a time: `tool run --solo` in a project of its own, as anybody would type it.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { boundedOutput } from '../../base/processes/program.ts';
import { failure } from '../../base/rules/errors.ts';
import { lastLines } from '../../base/rules/text.ts';
import { git } from '../../git/git.ts';
import { TEAMS_VARIABLE } from '../../team/rules/fallback.ts';
import type { PhaseReport } from '../phase-report.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { CLI } from './demo-daemon.ts';
import type { DemoStage } from './demo-stage.ts';

const OUTPUT_KEPT = 100_000;

export type SoloOptions = {
  readonly spec: string;
  /** The repository that the team started from. */
  readonly repository: string;
  /** The program that plays who works. */
  readonly player: string;
  /** Called with each line that it says. */
  readonly onLine: (line: string) => void;
};

export type Solo = { readonly seconds: number; readonly report: PhaseReport };

export async function workAlone(stage: DemoStage, options: SoloOptions): Promise<Solo> {
  const place = join(stage.root, 'one-at-a-time');
  const home = join(stage.root, 'home');
  mkdirSync(home, { recursive: true });
  const env = { ...stage.env, HOME: home };
  await git(['clone', '--quiet', '--no-hardlinks', options.repository, place], { cwd: stage.root, env });
  stage.signal.throwIfAborted();
  const startedAt = performance.now();
  const [node, cli] = CLI;
  const program = await stage.start(node, [cli, 'run', options.spec, '--solo', '--json', '--command', options.player], {
    cwd: place,
    env: { HOME: home, [TEAMS_VARIABLE]: '1' },
  });
  const printed = boundedOutput(program.stdout, OUTPUT_KEPT);
  let said = '';
  createInterface({ input: program.stderr }).on('line', (line) => {
    said = `${said}${line}\n`.slice(-OUTPUT_KEPT);
    options.onLine(line);
  });
  stage.signal.addEventListener('abort', program.terminate, { once: true });
  const { exitCode: code } = await program.exit;
  stage.signal.throwIfAborted();
  if (code !== 0)
    throw failure(CLI_CODES.demo_failed, { said: `the run one at a time ended with ${code}`, log: lastLines(said) });
  const report: PhaseReport = JSON.parse(printed());
  return { seconds: Math.round((performance.now() - startedAt) / 10) / 100, report };
}
