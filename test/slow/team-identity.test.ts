// Teammates of `tool run` without namespaces, told apart by what stands above their shells: below each of these they are themselves.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { DEMO_FILES, DEMO_SPEC } from '../../src/cli/demo/demo-team-project.ts';
import { PhaseProject } from '../support/phase-project.ts';
import { tempDir } from '../support/temp.ts';

const TEAM = 'tool-run-spec-guestbook-001';
/** As the agent of a host has its shells: each line is typed there. Homes are each agent's own: they meet at `place`. */
const program = (place: string) => `cat >/dev/null
truly=$TOOL_TEAMMATE
other=tester
[ "$truly" = tester ] && other=frontend-dev
export CLAUDECODE=1 truly
[ ! -e "${place}/$truly" ] || exit 3
tool() { "$HOME/bin/tool" team "$@"; }
tell="$HOME/bin/tool team send team-lead progress"
tool send team-lead progress "truly $truly"
timeout 60 $tell "truly $truly"
sh -c "$tell 'truly $truly'; :"
nohup $tell "truly $truly"
setsid $tell "truly $truly"
TOOL_TEAMMATE=$other TOOL_TEAMMATE_RUN= timeout 60 $tell "truly $truly"
TOOL_TEAMMATE=$other TOOL_TEAMMATE_RUN= sh -c "$tell 'truly $truly'; :"
env -u CLAUDECODE TOOL_TEAMMATE=$other TOOL_TEAMMATE_RUN= timeout 60 $tell "truly $truly"
TOOL_TEAMMATE=team-lead timeout 60 "$HOME/bin/tool" team shutdown "by $truly"
: > "${place}/$truly"
# The first that fails for good ends the others: not before two have said all.
tries=0
until set -- "${place}"/*; [ $# -ge 2 ] || [ $tries -ge 600 ]; do sleep 0.1; tries=$((tries + 1)); done
exit 3`;
const TIMES = 8;

const NO_PROCESSES = process.platform === 'linux' ? {} : { skip: 'no /proc here' };

test('a teammate without namespaces speaks for itself, below whatever it starts', NO_PROCESSES, async (t) => {
  const files = { ...DEMO_FILES, 'WORKFLOW.md': '---\ntool: { isolation: "off" }\n---\n' };
  const project = new PhaseProject(t, {}, '', files);
  const { code, stderr } = await project.tool('run', DEMO_SPEC, '--team', '--command', program(tempDir(t)));
  assert.equal(code, 1, stderr);
  const log = readFileSync(join(project.root, '.tool', 'teams', TEAM, 'log.jsonl'), 'utf8');
  const said = [...log.matchAll(/"content":"truly ([\w-]+)".*"by":"([\w-]+)"/g)];
  for (const [, truly, by] of said) assert.equal(by, truly);
  const names = new Set(said.map(([, truly]) => truly));
  assert.ok(names.size > 1, [...names].join(', '));
  for (const name of names) assert.ok(said.filter(([, truly]) => truly === name).length >= TIMES, name);
  assert.doesNotMatch(log, /"content":"by [\w-]+"/);
});
