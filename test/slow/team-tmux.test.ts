// `tool run` inside tmux, as a person has it: a pane for each teammate, and a run that goes on without them.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { PhaseProject } from '../support/phase-project.ts';
import { SPEC, shopProject } from '../support/shop-spec.ts';
import type { Cleanup } from '../support/temp.ts';
import { hasTmux, Tmux } from '../support/tmux.ts';

const skip = hasTmux ? false : 'there is no tmux here';
const CLI = join(process.cwd(), 'dist', 'cli.js');

/** Teammates that say who they are, and wait for a file; then the script's, or failures. */
function waiting(t: Cleanup, then: (project: PhaseProject) => string) {
  const project = shopProject(t);
  const go = join(project.home, '..', 'go');
  const program = `printf 'here is %s \\033[2J\\n' "$TOOL_TEAMMATE"; while [ ! -e '${go}' ]; do sleep 0.1; done; ${then(project)}`;
  return { project, args: ['run', SPEC, '--team', '--command', program], go: () => writeFileSync(go, '') };
}

test('each teammate has a pane with what it says, and nothing of it stays', { skip }, async (t) => {
  const { project, args, go } = waiting(t, () => 'exit 3');
  const code = join(project.home, 'code');
  const env = { HOME: project.home, TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1', CODE: code };
  const lead = [process.execPath, CLI, ...args];
  const tmux = new Tmux(t, ['sh', '-c', '"$@"; echo $? >"$CODE"; exec cat', 'sh', ...lead], env, project.root);
  await tmux.until(
    (panes) =>
      panes.get('backend-dev') === 'here is backend-dev \\x1b[2J' &&
      panes.get('frontend-dev') === 'here is frontend-dev \\x1b[2J',
  );
  assert.match(tmux.ask('capture-pane', '-p', '-t', '%0'), /TASKS/, 'the board is where the lead is');
  go();
  await tmux.until((panes) => panes.size === 0 && existsSync(code));
  assert.equal(readFileSync(code, 'utf8').trim(), '1');
});

test('panes that are asked for by name outside of tmux: it is refused before there is a team', async (t) => {
  const project = shopProject(t, '    teammate_display: tmux\n');
  for (const args of [
    ['run', SPEC, '--team'],
    ['plan', 'Users can log out of their account', '--team'],
  ]) {
    const { code, stderr } = await project.lead(...args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /workflow\.team\.teammate_display.*\(tmux_unavailable\)$/m);
  }
  assert.deepEqual(project.names('.tool/teams'), ['.gitignore']);
});

test('tmux that dies under a run does not end it: one line says so', { skip }, async (t) => {
  const { project, args, go } = waiting(t, (one) => one.player);
  const tmux = new Tmux(t, ['cat']);
  const { TMUX = '', TMUX_PANE = '' } = tmux.variables;
  const pty = project.attendWith(args, { TMUX, TMUX_PANE });
  await tmux.until((panes) => panes.has('backend-dev') && panes.has('frontend-dev'));
  tmux.kill();
  go();
  assert.equal(await pty.ended, 0, pty.output.slice(-2000));
  assert.match(pty.output, /No panes: tmux [^\n]*\(panes_unavailable\)/);
});
