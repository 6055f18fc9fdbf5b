import assert from 'node:assert/strict';
import test from 'node:test';
import { agentOf, PATTERNS, ROLES, roleOfAgent } from '../../../src/team/rules/role.ts';

test('each role: its phase, its model, whether it may write, its skill', () => {
  const rows = Object.entries(ROLES).map(([key, { name, phase, model, readOnly, skill }]) => {
    assert.equal(key, name);
    return [agentOf(name), phase, model, readOnly ? 'reads' : 'writes', skill];
  });
  assert.deepEqual(rows, [
    ['team-researcher', 'plan', 'haiku', 'reads', 'tool-foundation-philosopher'],
    ['team-analyst', 'plan', 'inherit', 'reads', 'tool-workflow-spec'],
    ['team-architect', 'plan', 'inherit', 'reads', 'tool-domain-architecture'],
    ['team-backend-dev', 'run', 'inherit', 'writes', null],
    ['team-frontend-dev', 'run', 'inherit', 'writes', null],
    ['team-designer', 'run', 'inherit', 'writes', null],
    ['team-tester', 'run', 'inherit', 'writes', null],
    ['team-quality', 'run', 'inherit', 'reads', null],
    ['team-hypothesis-1', 'debug', 'haiku', 'reads', null],
    ['team-hypothesis-2', 'debug', 'haiku', 'reads', null],
    ['team-hypothesis-3', 'debug', 'haiku', 'reads', null],
  ]);
});

test('an agent is known by its whole name alone', () => {
  assert.equal(roleOfAgent('team-backend-dev')?.name, 'backend-dev');
  for (const other of ['backend-dev', 'team-backendDev', 'team-', 'team-lead', ''])
    assert.equal(roleOfAgent(other), undefined, other);
});

test('each pattern is of one phase, with roles of that phase, each once', () => {
  assert.deepEqual(
    Object.entries(PATTERNS).map(([key, { name, phase, roles }]) => {
      assert.equal(key, name);
      assert.deepEqual([...new Set(roles)], roles, name);
      for (const role of roles) assert.equal(ROLES[role].phase, phase, `${name}: ${role}`);
      return `${name} (${phase}): ${roles.join(', ')}`;
    }),
    [
      'plan_research (plan): researcher, analyst, architect',
      'implementation (run): backend-dev, frontend-dev, tester',
      'design_implementation (run): designer, backend-dev, frontend-dev, tester',
      'quality_gate (run): backend-dev, frontend-dev, tester, quality',
      'investigation (debug): hypothesis-1, hypothesis-2, hypothesis-3',
    ],
  );
  assert.match(PATTERNS.investigation.trigger, /\/tool:build-fix --team/);
});
