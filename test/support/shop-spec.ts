// A small SPEC that is approved, in a small repository: three tasks of one file each, and teammates that write them.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TeammateScript } from '../../src/cli/agents/agent-teammate.ts';
import { PhaseProject } from './phase-project.ts';
import type { Cleanup } from './temp.ts';

export const SPEC = 'SPEC-SHOP-001';
export const TEAM = 'tool-run-spec-shop-001';

/** Who builds which file, in the order of the tasks. */
export const WORK = [
  { id: 'T1', owner: 'backend-dev', domain: 'backend', file: 'src/api/greeting.js', after: 'none' },
  { id: 'T2', owner: 'frontend-dev', domain: 'frontend', file: 'src/pages/greeting.js', after: 'none' },
  { id: 'T3', owner: 'tester', domain: 'tests', file: 'tests/greeting.test.js', after: 'T1, T2' },
] as const;

const FILES: Readonly<Record<string, string>> = {
  'spec.md': `---\nid: ${SPEC}\ntitle: Visitors are greeted\nstatus: approved\ncreated: 2026-01-30\nupdated: 2026-01-31\n---\n\n# Visitors are greeted\n\n> They come back.\n\n## Requirements\n\n- R1: When a visitor comes, the API shall answer a greeting.\n`,
  'plan.md': `# Plan\n\n> As it is done elsewhere.\n\n${WORK.map(
    ({ id, owner, domain, file, after }) =>
      `## ${id}: Write ${id}\n\n> One file.\n\n- files: \`${file}\`\n- depends on: ${after}\n- domain: ${domain}\n- owner: ${owner}\n- requirements: R1\n`,
  ).join('\n')}`,
  'acceptance.md': '# Acceptance\n\n- A1 (R1): Given a visitor, when the page is shown, then there is a greeting.\n',
};

/** Nothing is measured: the tests of the gate do that. */
const SETTINGS = `    hooks:
      task_completed:
        require_quality_check: false
`;

/** @param thinkMs how long the teammates of those tasks think first, by the id of the task */
export function shopScript(thinkMs: Readonly<Record<string, number>> = {}): TeammateScript {
  const part = (owner: string) => ({
    tasks: WORK.filter((one) => one.owner === owner).map(({ id, file }) => ({
      subject: `Write ${id}`,
      steps: [
        { think_ms: thinkMs[id] ?? 0 },
        { write: { path: file, text: `export const ${id} = true;\n` } },
        {
          call: {
            tool: 'SendMessage',
            input: { recipient: 'team-lead', type: 'progress', content: `${file} is there` },
          },
        },
      ],
    })),
  });
  return Object.fromEntries(['backend-dev', 'frontend-dev', 'tester'].map((owner) => [owner, part(owner)]));
}

const placed = Object.entries(FILES).map(([name, text]) => [`.tool/specs/${SPEC}/${name}`, text]);

/** A repository of that SPEC alone. */
export const SHOP_FILES: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify({ name: 'shop', private: true, type: 'module' })}\n`,
  '.gitignore': '.tool/teams/\n.tool/state/\n.tool/cache/\n',
  '.tool/config/workflow.yaml': `workflow:\n  team:\n    enabled: true\n${SETTINGS}`,
  ...Object.fromEntries(placed),
};

/** @param settings further lines below `workflow.team` */
export function shopProject(t: Cleanup, settings = ''): PhaseProject {
  const project = new PhaseProject(t, shopScript(), `${SETTINGS}${settings}`);
  for (const [name, text] of Object.entries(FILES)) {
    const path = join(project.root, '.tool', 'specs', SPEC, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  project.git('add', '-A');
  project.git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'A SPEC');
  return project;
}
