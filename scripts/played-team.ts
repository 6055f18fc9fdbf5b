// A team in the middle of its work, for a picture: its operations carried out as its members would.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeOperations } from '../src/compose/team.ts';
import { FileTeams } from '../src/team/log/teams.ts';
import { operate } from '../src/team/operations/operations.ts';

const TEAM = 'tool-run-spec-users-001';

type Fields = Readonly<Record<string, unknown>>;

export async function playTeam(root: string): Promise<void> {
  mkdirSync(join(root, '.tool', 'config'), { recursive: true });
  writeFileSync(join(root, '.tool', 'config', 'workflow.yaml'), 'workflow:\n  team:\n    enabled: true\n');
  const context = composeOperations(root, { ...process.env, HOME: root });
  const as = (teammate: string | null) => (name: string, input: Fields) =>
    operate(context, name, input, { kind: 'environment', team: TEAM, teammate });
  const lead = as(null);
  await lead('TeamCreate', { team_name: TEAM, subject: 'SPEC-USERS-001' });
  const task = (subject: string, owner: string, files: readonly string[], after: readonly string[] = []) =>
    lead('TaskCreate', { subject, description: subject, owner, files, blocked_by: after });
  await task('Keep addresses: model and migration', 'backend-dev', ['src/models/address.ts']);
  await task('PUT /api/addresses with validation', 'backend-dev', ['src/api/addresses.ts'], ['1']);
  await task('The address form', 'frontend-dev', ['src/components/AddressForm.tsx']);
  await task('The page of an account shows the form', 'frontend-dev', ['src/pages/account.tsx'], ['2', '3']);
  await task('Tests of the API and the form', 'tester', ['tests/addresses.test.ts'], ['2', '3']);
  for (const name of ['backend-dev', 'frontend-dev', 'tester'])
    await lead('Task', { subagent_type: `team-${name}`, team_name: TEAM, name, prompt: 'Do your tasks.' });
  const [backend, frontend, tester] = [as('backend-dev'), as('frontend-dev'), as('tester')];
  await backend('TaskUpdate', { taskId: '1', status: 'in_progress' });
  await frontend('TaskUpdate', { taskId: '3', status: 'in_progress' });
  await tester('SendMessage', { recipient: 'team-lead', type: 'progress', content: 'Reading the acceptance lines.' });
  const teams = new FileTeams({ root, now: Date.now });
  const log = teams.begin(TEAM);
  await log.append({ type: 'task_updated', task: '1', status: 'completed', result: null, by: 'backend-dev', epoch: 1 });
  await log.append({
    type: 'gate_measured',
    task: '1',
    tree: 'b7c1e0'.padEnd(40, '0'),
    ok: true,
    checks: [
      { check: 'tests', outcome: 'passed', reason: '', details: [], command: 'npm test', figure: '48 passed' },
      { check: 'coverage', outcome: 'passed', reason: '', details: [], command: 'npm test', figure: '86.4 %' },
      { check: 'lint', outcome: 'passed', reason: '', details: [], command: 'npm run lint', figure: null },
      { check: 'security', outcome: 'not_measured', reason: '', details: [], command: null, figure: null },
      { check: 'performance', outcome: 'not_measured', reason: '', details: [], command: null, figure: null },
    ],
    coverage: 86.4,
  });
  await backend('TaskUpdate', { taskId: '2', status: 'in_progress' });
  await backend('FileLease', { path: 'package.json', reason: 'a validator' });
  await backend('SendMessage', {
    recipient: 'frontend-dev',
    type: 'api_ready',
    content: { endpoint: 'PUT /api/addresses', schema: { street: 'string', city: 'string', zip: 'string' } },
  });
  await log.append({
    type: 'decision',
    hook: 'ownership',
    decision: 'reject',
    member: 'frontend-dev',
    about: 'Write src/api/addresses.ts',
    reason: "src/api/addresses.ts is backend-dev's (src/api/**), not frontend-dev's",
    fingerprint: '',
    paths: [],
  });
  await frontend('SendMessage', {
    recipient: 'backend-dev',
    type: 'change_request',
    content: {
      file: 'src/api/addresses.ts',
      requestedChange: 'Answer 422 with the field',
      reason: 'the form marks it',
    },
  });
  await backend('Inbox', {});
  await log.close();
}
