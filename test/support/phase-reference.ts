// All phases of the feature from a terminal, with somebody there who approves: what hosts are held against.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PhaseProject } from './phase-project.ts';
import { BUILDERS, FEATURE, FILES, PLANNERS, RUN_TEAM, SPEC } from './phase-stories.ts';
import type { Cleanup } from './temp.ts';

/** The documents of the SPEC; days and commits are as they are. */
export function documentsOf(root: string): Readonly<Record<string, string>> {
  const place = join(root, '.tool', 'specs', SPEC);
  return Object.fromEntries(
    readdirSync(place)
      .sort()
      .map((name) => [
        name,
        readFileSync(join(place, name), 'utf8')
          .replaceAll(/\d{4}-\d\d-\d\d/g, '<day>')
          .replaceAll(/\b[0-9a-f]{10,40}\b/g, '<commit>'),
      ]),
  );
}

export function reportOf(root: string, team: string): string {
  const archive = join(root, '.tool', 'teams', 'archive');
  const directory = readdirSync(archive).find((name) => name.startsWith(team)) ?? '';
  return readFileSync(join(archive, directory, 'report.txt'), 'utf8');
}

/** The headings of the report that a team left. */
export function sectionsOf(root: string, team: string): readonly string[] {
  return reportOf(root, team)
    .split('\n')
    .filter((line) => /^##? /.test(line));
}

export async function led(project: PhaseProject, ...args: readonly string[]): Promise<void> {
  const { code, stderr } = await project.lead(...args);
  assert.equal(code, 0, stderr);
}

/** Once for a file of tests.
 * @param t the whole file */
export async function fromTerminal(t: Cleanup) {
  const project = new PhaseProject(t, { ...PLANNERS, ...BUILDERS }, '', FILES);
  const pty = project.attend(['plan', FEATURE, '--team']);
  await pty.until(() => pty.output.includes(`approve ${SPEC}? `));
  pty.type('y\n');
  assert.equal(await pty.ended, 0, pty.output);
  const planned = documentsOf(project.root);
  await led(project, 'run', SPEC, '--team');
  project.git('merge', '-q', '--ff-only', `tool/${RUN_TEAM}`);
  const { code, stdout, stderr } = await project.tool('sync', SPEC);
  assert.equal(code, 0, stdout + stderr);
  return { project, planned, synced: documentsOf(project.root) };
}
