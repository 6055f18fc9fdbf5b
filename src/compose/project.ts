// Wires the project into the contexts: its files, its SPECs, and the facts about its host.

import { writeFileSync } from 'node:fs';
import { agentTools } from '../agents/agent-tools.ts';
import type { Environment } from '../base/rules/environment.ts';
import { formOf } from '../claude-code/duplicate-hooks.ts';
import { filesDisabling, findVariable, settingsFiles } from '../claude-code/host-settings.ts';
import type { Project } from '../git/project.ts';
import { reportPath } from '../team/log/finished-team.ts';
import type { TeamContext } from '../team/operations/context.ts';
import type { ProjectFiles, SpecStore } from '../team/operations/context-parts.ts';
import type { Teams } from '../team/ports.ts';
import { approvalOf, approveSpec } from '../team/spec-documents/spec-approvals.ts';
import { listSpecs, putSpec, readPlanned, readSpec, whyNoSpec } from '../team/spec-documents/specs.ts';
import type { HookContext } from './hook-context.ts';

function projectFilesOf({ root }: Project): ProjectFiles {
  return {
    files: async (place = root) => (await import('../git/tracked-files.ts')).trackedFiles(place),
    agentTools: (agent) => agentTools(root, agent),
    writeReport: (directory, text) => {
      const path = reportPath(directory);
      writeFileSync(path, text);
      return path;
    },
  };
}

function specStoreOf(project: Project, env: Environment, teams: Teams, settings: TeamContext['settings']): SpecStore {
  const { main } = project;
  return {
    specs: () => listSpecs(main),
    whyNoSpec: () => whyNoSpec(main),
    spec: (id) => readSpec(main, id),
    planned: (id) => readPlanned(main, id),
    approval: (id) => approvalOf(main, id, env),
    sync: async (id, base) => {
      const { composeSync } = await import('./spec-sync.ts');
      const { syncSpec } = await import('../team/phases/sync.ts');
      return syncSpec(composeSync({ project, env, teams, settings, now: Date.now }), id, base);
    },
    approve: (id) => approveSpec(main, id, env, Date.now()),
    writeSpec: (spec, replaces) => putSpec(main, spec, replaces, new Date().toISOString().slice(0, 10)),
  };
}

/** Facts about the host are read anew at each use. */
export function projectOf(
  project: Project,
  env: Environment,
  teams: Teams,
  settings: TeamContext['settings'],
): HookContext['project'] {
  const { root, main } = project;
  const at = env.CLAUDE_PROJECT_DIR ?? root;
  return {
    ...projectFilesOf(project),
    ...specStoreOf(project, env, teams, settings),
    hostVersion: async () => (await import('../claude-code/host-version.ts')).readHostVersion(main, env),
    get variable() {
      return findVariable(at, env);
    },
    get serverOffIn() {
      // That of a plugin is none of `.mcp.json`.
      return formOf(env, root) === 'plugin' ? [] : filesDisabling(settingsFiles(at, env), 'team');
    },
  };
}
