// `tool demo --follow`: a pull request whose first commit fails a check and then gets a review, until a person only merges it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import kleur from 'kleur';
import { failure } from '../../base/rules/errors.ts';
import type { StateView } from '../../daemon/view.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { commandName, type DemoOptions, printPlaces } from './demo.ts';
import { ACCOUNTS, DemoDaemon, LABEL, OWNER } from './demo-daemon.ts';
import { FOLLOW_AGENT, FOLLOW_FILES, FOLLOW_ISSUE } from './demo-follow-project.ts';
import { type PullRequestView, ReviewersPlayed, type Say } from './demo-reviewers.ts';
import { type DemoStage, withDemoStage } from './demo-stage.ts';
import { loadEmulator } from './forge/emulator.ts';
import { Forge } from './forge/forge.ts';
import { fileIssues, seedFiles } from './forge/seed.ts';

const REPO = 'wordsmith';
const BASE = `/repos/${OWNER}/${REPO}`;

export async function demoFollowCommand(options: DemoOptions): Promise<void> {
  const expected = 'none with --follow, which follows one issue of its own project';
  if (options.issues !== undefined)
    throw failure(CLI_CODES.option_invalid, { option: '--issues', expected, got: String(options.issues) });
  if (options.repo !== undefined)
    throw failure(CLI_CODES.option_invalid, {
      option: '--repo',
      expected,
      got: options.repo,
      instead: 'On a repository of your own, use follow.until in WORKFLOW.md (tool serve).',
    });
  await loadEmulator();
  await withDemoStage((stage) => play(stage, options));
}

function workflowSection(forge: Forge, agent: string): string {
  return `tracker:
  repo: ${OWNER}/${REPO}
  api_url: ${forge.url}
polling: { interval_ms: 1000 }
follow: { until: approved }
tool:
  runtime: command
  command: ${JSON.stringify(['node', agent])}
`;
}

/** Tells what the daemon does for the issue, each thing once. */
class DaemonLines {
  readonly #say: Say;
  readonly #said = new Set<string>();
  #waits = '';

  constructor(say: Say) {
    this.#say = say;
  }

  show({ running: [agent], following: [row], completed: [done] }: StateView): void {
    if (agent !== undefined)
      this.#once(
        agent.attempt === 1
          ? 'an agent works on the issue'
          : `round ${agent.attempt - 1}: the agent’s session goes on, with what happened`,
      );
    if (done !== undefined) this.#once(`the issue ends as ${done.outcome}`);
    if (done !== undefined || row === undefined || row.waits_for === this.#waits) return;
    this.#waits = row.waits_for;
    if (row.waits_for !== 'the next poll') this.#say('daemon', kleur.dim(`waits: ${row.waits_for}`));
  }

  #once(text: string): void {
    if (this.#said.has(text)) return;
    this.#said.add(text);
    this.#say('daemon', text);
  }
}

async function play(stage: DemoStage, options: DemoOptions): Promise<void> {
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 10) / 100;
  const isQuiet = options.json === true;
  const say: Say = (who, text) => {
    if (!isQuiet) process.stdout.write(`  ${seconds().toFixed(1).padStart(5)} s  ${who.padEnd(10)}  ${text}\n`);
  };
  const repository = join(stage.root, 'forge.git');
  await seedFiles(repository, 'Slugs', FOLLOW_FILES);
  const forge = await Forge.start({ owner: OWNER, repo: REPO, repository, accounts: ACCOUNTS });
  stage.atEnd(() => forge.close());
  const [issue = 1] = await fileIssues(forge, BASE, [FOLLOW_ISSUE], LABEL);
  const agent = join(stage.root, 'agent.mjs');
  writeFileSync(agent, FOLLOW_AGENT);
  const daemon = await DemoDaemon.start(stage, workflowSection(forge, agent));
  if (!isQuiet)
    process.stdout.write(
      `  forge      ${forge.url}/${OWNER}/${REPO}\n  dashboard  http://localhost:${daemon.port}\n\n`,
    );
  say(OWNER, `issue #${issue} has the label ${LABEL}: ${FOLLOW_ISSUE.title}`);
  const reviewers = new ReviewersPlayed({ forge, base: BASE, repository, root: stage.root, env: stage.env, say });
  const lines = new DaemonLines(say);
  const playing = reviewers.play(stage.signal);
  // It is looked at below: whichever ends first.
  playing.catch(() => undefined);
  const watching = daemon.watch(
    stage.signal,
    (state) => lines.show(state),
    ({ completed, following }) => completed.length > 0 || following.some((row) => row.awaits_person === 'merge'),
  );
  const state = await Promise.race([watching, playing.then(() => watching)]);
  if (state === undefined) return;
  const pull = await reviewers.pullRequest();
  const [row] = state.following;
  if (row === undefined || pull === null || !pull.isMergeable)
    throw failure(CLI_CODES.demo_failed, {
      said: `issue #${issue} ended as ${state.completed[0]?.outcome ?? 'nothing'}, with ${pull === null ? 'no pull request' : 'one that cannot be merged'}`,
      log: daemon.log,
    });
  printEnd(pull, row.rounds, seconds(), isQuiet);
  if (options.keep === true) {
    printPlaces(stage, forge, REPO, daemon, issue);
    await stage.keepUp();
  } else if (!isQuiet)
    process.stdout.write(
      `  All of it is gone now. To look around: ${commandName()} demo --follow --keep leaves the dashboard and the forge up.\n`,
    );
}

function printEnd(pull: PullRequestView, rounds: number, seconds: number, isQuiet: boolean): void {
  const { number, url, isMergeable, checks, reviews } = pull;
  if (isQuiet) {
    const shown = { pull_request: { number, url, mergeable: isMergeable }, rounds, checks, reviews, seconds };
    process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
    return;
  }
  process.stdout.write(
    [
      '',
      `  ${kleur.green(`Pull request #${number} is green, approved and without a conflict`)}, after ${rounds} rounds in ${seconds.toFixed(1)} s.`,
      '  What is left to a person: to read and to merge it.',
      '',
    ].join('\n'),
  );
}
