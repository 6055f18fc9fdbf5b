import assert from 'node:assert/strict';
import test from 'node:test';
import { type Fields, HookedProject } from '../../support/hooked.ts';

const REJECTED = 2;
const PATH = '.tool/specs/SPEC-ORDERS-001/spec.md';

function specText(status: string): string {
  return `---\nid: SPEC-ORDERS-001\nstatus: ${status}\n---\n# Orders\n`;
}

type Case = readonly [what: string, before: string | null, tool: string, input: Fields, code: number];

const write = (status: string): Fields => ({ file_path: PATH, content: specText(status) });
const edit = (from: string, to: string): Fields => ({ file_path: PATH, old_string: from, new_string: to });

const CASES: readonly Case[] = [
  ['a draft', null, 'Write', write('draft'), 0],
  ['an approved one', null, 'Write', write('approved'), REJECTED],
  ['one that is done before it was approved', null, 'Write', write('completed'), REJECTED],
  ['a single word of the status', 'draft', 'Edit', edit('draft', 'approved'), REJECTED],
  ['several edits', 'draft', 'MultiEdit', { file_path: PATH, edits: [edit('draft', 'approved')] }, REJECTED],
  ['words of an approved one', 'approved', 'Edit', edit('# Orders', '# Their orders'), 0],
  ['what was approved, done', 'approved', 'Edit', edit('status: approved', 'status: completed'), REJECTED],
  ['what waits for the word', 'draft', 'Edit', edit('status: draft', 'status: awaiting_approval'), 0],
  ['a shell that changes it', 'draft', 'Bash', { command: `sed -i s/draft/approved/ ${PATH}` }, REJECTED],
  ['a shell that brings its folder', null, 'Bash', { command: 'cp -r /tmp/orders .tool/specs' }, REJECTED],
  ['a shell that makes its folder', null, 'Bash', { command: 'mkdir -p .tool/specs/SPEC-ORDERS-001' }, 0],
  ['another document', null, 'Bash', { command: 'echo x > .tool/specs/SPEC-ORDERS-001/plan.md' }, 0],
];

for (const [what, before, tool_name, tool_input, code] of CASES)
  test(`the lead writes ${what}: ${code === 0 ? 'it may' : 'only the user approves'}`, async (t) => {
    const project = await new HookedProject(t).team('architect');
    if (before !== null) project.write(PATH, specText(before));
    const run = await project.hook('pre-tool-use', 'team-lead', 'PreToolUse', { tool_name, tool_input });
    assert.equal(run.code, code, run.stderr);
    if (code === REJECTED)
      assert.match(run.stderr, /\((?:spec_status_reserved|spec_completed_reserved|spec_status_unseen)\)$/m);
  });
