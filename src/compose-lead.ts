// Wires the adapters to a lead that is code: for `tool run` and its like, where no host takes part.

import { createHash } from 'node:crypto';
import { createChecks } from './adapters/checks/checks.ts';
import { measureTrust5 } from './adapters/checks/trust5.ts';
import { systemClock } from './adapters/clock.ts';
import { KeptTeams } from './adapters/event-log/kept-teams.ts';
import { FileTeams } from './adapters/event-log/teams.ts';
import { createWorkshop } from './adapters/git/workshop.ts';
import { endRun } from './adapters/processes.ts';
import { findProject, type Project } from './adapters/project.ts';
import { ClaudeMembers, type ClaudeMembersOptions } from './adapters/runner/claude-members.ts';
import type { MemberHomeOptions } from './adapters/runner/member-home.ts';
import { CommandMembers } from './adapters/runner/members.ts';
import { RuntimeDir } from './adapters/runtime-dir.ts';
import { projectState } from './adapters/stamp.ts';
import { composeContext } from './compose-team.ts';
import { NO_HOST, type Environment as Variable } from './domain/team/activation.ts';
import type { CommandLine } from './domain/workflow.ts';
import type { HookContext } from './engine/team/hook-context.ts';
import type { LeadOptions } from './engine/team/lead/lead.ts';
import type { MemberTimeouts } from './engine/team/lead/member-life.ts';
import type { Members } from './engine/team/members-port.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What plays the teammates. */
export type Players =
  /** A program that reads its prompt from standard input. */
  | { readonly kind: 'command'; readonly command: CommandLine }
  | ({ readonly kind: 'claude' } & Omit<ClaudeMembersOptions, keyof MemberHomeOptions>);

export type ComposeLeadOptions = {
  readonly cwd: string;
  readonly env: Environment;
  readonly players: Players;
  /** Names of further variables that teammates get. */
  readonly passed: readonly string[];
  readonly timeouts: MemberTimeouts;
  readonly variable: Variable;
  /** What marks all that is started; undefined: made of the project's place. */
  readonly mark?: string;
  readonly say: (words: string) => void;
};

export type ComposedLead = {
  readonly context: HookContext;
  readonly project: Project;
  readonly lead: Omit<LeadOptions, 'width' | 'onEvent' | 'output'>;
  /** Ends what an earlier lead of that team left running; gives how many processes there were. */
  readonly endLeftovers: (team: string) => Promise<number>;
  readonly close: () => Promise<void>;
};

const LEFTOVER_GRACE_MS = 1_000;

function membersOf(players: Players, home: MemberHomeOptions): Members {
  return players.kind === 'claude'
    ? new ClaudeMembers({ ...home, ...players })
    : new CommandMembers({ ...home, command: players.command, more: {} });
}

export function composeLead(options: ComposeLeadOptions): ComposedLead {
  const { cwd, env, players, passed, timeouts, say } = options;
  const project = findProject(cwd);
  const { root, main } = project;
  const teams = new KeptTeams(new FileTeams({ root: main, now: Date.now }));
  const { context } = composeContext(project, env, teams, () => null, say);
  const mark = options.mark ?? createHash('sha256').update(main).digest('hex').slice(0, 12);
  const runtime = new RuntimeDir();
  const stateDir = projectState(main, env);
  const hostVersion = players.kind === 'claude' ? players.version : NO_HOST;
  const view = {
    ...context.project,
    hostVersion: () => Promise.resolve(hostVersion),
    // As it is now: a settings file may have changed.
    get variable() {
      return options.variable;
    },
  };
  const leading: HookContext = { ...context, project: view };
  return {
    context: leading,
    project,
    lead: {
      context: leading,
      members: membersOf(players, { stateDir, runtime, env, passed, mark }),
      workshop: createWorkshop({ root, env }),
      clock: systemClock,
      checksAt: (place) =>
        createChecks({ root: place, cacheDirectory: `${main}/.tool/cache/checks`, now: Date.now, env }),
      trust5At: (work) => measureTrust5({ ...work, env }),
      desk: {
        writeSpec: leading.project.writeSpec,
        askApproval: null,
      },
      budgetUsd: null,
      instruction: null,
      timeouts,
      say,
    },
    endLeftovers: (team) => endRun(`${mark}.${team}.`, LEFTOVER_GRACE_MS),
    close: async () => {
      await teams.close();
      await runtime.close();
    },
  };
}
