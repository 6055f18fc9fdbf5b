// A project with teams, its operations called as a host would have them called.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { systemKeys } from '../../src/base/keys.ts';
import { type Refusal, refusal, textOf } from '../../src/base/rules/codes.ts';
import { ToolError } from '../../src/base/rules/errors.ts';
import type { HookContext } from '../../src/compose/hook-context.ts';
import type { Check, GateResult } from '../../src/gate/rules/quality.ts';
import { type Trust5Facts, trust5Of } from '../../src/gate/rules/trust5.ts';
import { insideProject } from '../../src/guard/rules/ownership.ts';
import { resolveTarget } from '../../src/guard/tool-writes.ts';
import { FilePhaseLock } from '../../src/team/log/phase-lock.ts';
import { FileTeams } from '../../src/team/log/teams.ts';
import type { HookAnswer, HostEvent } from '../../src/team/operations/host-event.ts';
import { operate } from '../../src/team/operations/operations.ts';
import type { Evidence } from '../../src/team/rules/caller.ts';
import { OPERATIONS_CODES } from '../../src/team/rules/codes/operations-codes.ts';
import { SPEC_CODES } from '../../src/team/rules/codes/spec-codes.ts';
import { DEFAULT_TEAM_SETTINGS } from '../../src/team/rules/default-settings.ts';
import type { TeamState } from '../../src/team/rules/log/state.ts';
import type { TeamSettings } from '../../src/team/rules/settings.ts';
import { isRefusal } from './codes.ts';
import { FakeClock } from './fake-clock.ts';
import { type Cleanup, tempDir } from './temp.ts';

export const TEAM = 'tool-run-spec-auth-001';

const PASSED: GateResult = {
  tree: 'a'.repeat(40),
  ok: true,
  checks: [
    { check: 'tests', outcome: 'passed', reason: '12 tests passed', details: [], command: 'npm test', figure: '12' },
  ],
  coverage: 91,
  uncoveredFiles: [],
};

export function failing(tree: string, check: Check = 'tests', finding = 'users.test.ts: says 404'): GateResult {
  return {
    ...PASSED,
    tree,
    ok: false,
    checks: [
      {
        check,
        outcome: 'failed',
        reason: 'it failed',
        details: [finding],
        command: 'npm test',
        figure: null,
      },
    ],
  };
}

export type Answer = Readonly<Record<string, unknown>>;

export class TeamWorld {
  readonly root: string;
  readonly clock = new FakeClock();
  readonly teams: FileTeams;
  settings: TeamSettings = { ...DEFAULT_TEAM_SETTINGS, enabled: true };
  /** What the checks find, one after the other; the last one stays. */
  gate: GateResult[] = [PASSED];
  /** What they find where the team began; null: Git cannot tell. */
  before: GateResult | null = null;
  /** Why they cannot measure now. */
  whyNot: Error | null = null;
  /** Required parts of the gate that nothing can measure. */
  missing: readonly Refusal[] = [];
  /** How often they were asked. */
  measured = 0;
  /** Paths that changed since the team began. */
  changed: string[] = [];
  /** Changed at one look, and gone at the next. */
  passing: string[] = [];
  /** What TRUST 5 says of commits and code, where it is measured. */
  facts: Pick<Trust5Facts, 'format' | 'complexity' | 'secrets'> = {
    format: { source: 'prettier --check', files: 1, findings: [] },
    complexity: { source: 'eslint', files: 1, findings: [] },
    secrets: { source: 'git diff', lines: 1, allowed: 0, findings: [] },
  };
  /** Whether another host at work in the project has started this one. */
  nested = false;
  /** What people were told. */
  readonly logged: string[] = [];
  /** What the configuration was found to lack. */
  problems: Refusal[] = [];
  context: HookContext;
  #project: HookContext['project'] = {
    files: () => Promise.resolve([]),
    specs: () => [],
    whyNoSpec: () => null,
    spec: () => null,
    approve: () => null,
    writeSpec: () => ({ ok: false, problems: [{ file: 'spec.md', line: 1, words: 'nothing is written here' }] }),
    writeReport: (directory) => directory,
    agentTools: () => null,
    planned: () => Promise.resolve(null),
    approval: () => Promise.resolve({ status: null, counts: false, why: 'there is no SPEC' }),
    sync: () => Promise.resolve({ kind: 'refused', refusal: refusal(SPEC_CODES.sync_no_commit, {}) }),
    hostVersion: () => Promise.resolve('2.1.177'),
    variable: { value: '1', source: { file: '.claude/settings.json' } },
    serverOffIn: [],
  };

  constructor(t: Cleanup) {
    this.root = tempDir(t);
    this.teams = new FileTeams({ root: this.root, now: this.clock.now });
    const project = () => this.#project;
    this.context = {
      teams: this.teams,
      settings: () => Promise.resolve(this.settings),
      problems: () => this.problems,
      now: this.clock.now,
      keys: systemKeys,
      checks: {
        missing: () => Promise.resolve(this.missing),
        run: () => {
          this.measured += 1;
          if (this.whyNot !== null) return Promise.reject(this.whyNot);
          const [next = PASSED] = this.gate.length > 1 ? this.gate.splice(0, 1) : this.gate;
          return Promise.resolve(next);
        },
      },
      checksBefore: () => Promise.resolve(this.before),
      waitFor: (isThere) => Promise.resolve(isThere()),
      trust5: ({ gate, settings, written }) =>
        Promise.resolve(trust5Of({ gate, ...this.facts, commits: written }, settings)),
      phaseLock: new FilePhaseLock({ project: this.root, directories: [join(this.root, 'turns')] }),
      newSecrets: () => Promise.resolve([]),
      workTree: {
        head: () => Promise.resolve(this.before === null ? null : 'commit'),
        tree: () => Promise.resolve('tree'),
        changed: () => Promise.resolve([...this.changed, ...this.passing.splice(0)]),
      },
      inside: (path) => insideProject(path.startsWith(`${this.root}/`) ? path.slice(this.root.length + 1) : path),
      placeOf: (path) => resolveTarget(path, this.root),
      teamWorktrees: () => Promise.resolve(null),
      hasAgentFile: () => false,
      hostProcess: () => '77 1',
      approval: () => Promise.resolve({ status: 'approved', counts: true, why: 'approved' }),
      host: () => ({ version: '2.1.177', form: 'project' }),
      writesOf: (_tool, input) =>
        Promise.resolve({
          targets: typeof input.file_path === 'string' ? [{ path: input.file_path, tree: false }] : [],
          unresolved: typeof input.unresolved === 'string' ? [input.unresolved] : [],
          git: null,
        }),
      writesHeldBy: async () => 'kernel',
      shellGuard: null,
      allowsTicketComments: () => true,
      placeLeases: () => undefined,
      below: () => [],
      outputs: async () => new Set(),
      temporary: ['/tmp'],
      hosts: ['/home/x/.claude'],
      worktree: null,
      mayWait: false,
      get attended() {
        return false;
      },
      isNested: () => this.nested,
      log: (level, words) => this.logged.push(`${level}: ${words}`),
      whoseCall: () => Promise.resolve(null),
      namesCallers: true,
      startedAs: null,
      get project() {
        return project();
      },
    };
  }

  /** What the project looks like to commands. */
  pretend(project: Partial<HookContext['project']>): void {
    this.#project = { ...this.#project, ...project };
  }

  /** The checks find that one failing. */
  fails(check: Check): void {
    this.gate = [failing('f'.repeat(40), check)];
  }

  /** As the host names somebody: the lead's main agent, or an agent of that type. */
  evidence(who: string): Evidence {
    const isLead = who === 'team-lead';
    return {
      kind: 'stamp',
      caller: {
        session: 'session-1',
        agentId: isLead ? null : `agent-of-${who}`,
        agentType: isLead ? null : `team-${who}`,
        toolUseId: null,
      },
    };
  }

  call(who: string, name: string, input: Answer = {}): Promise<Answer> {
    return operate(this.context, name, input, this.evidence(who));
  }

  /** The refusal of a call, as text. */
  async refused(who: string, name: string, input: Answer = {}): Promise<string> {
    return textOf(await this.refusal(who, name, input));
  }

  /** The refusal of a call. */
  async refusal(who: string, name: string, input: Answer = {}): Promise<Refusal> {
    try {
      const answer = await this.call(who, name, input);
      assert.fail(`${name} was answered: ${JSON.stringify(answer)}`);
    } catch (error) {
      assert.ok(error instanceof ToolError, String(error));
      assert.equal(error.kind, 'refused');
      return error.refusal;
    }
  }

  /** A team of these members, all started by the host. */
  async team(members: readonly string[], name = TEAM): Promise<void> {
    await this.call('team-lead', 'TeamCreate', { team_name: name });
    for (const member of members) await this.start(member, name);
  }

  async start(member: string, team = TEAM): Promise<void> {
    await this.call('team-lead', 'Task', {
      subagent_type: `team-${member}`,
      team_name: team,
      name: member,
      prompt: 'Do your tasks',
    });
    await this.append(
      { type: 'member_spawned', name: member, epoch: this.epoch(member, team), key_hash: null, pid: null },
      team,
    );
  }

  epoch(member: string, team = TEAM): number {
    return this.state(team).members.get(member)?.epoch ?? 0;
  }

  state(team = TEAM): TeamState {
    const log = this.teams.open(team);
    assert.ok(log !== undefined, `no team ${team}`);
    const { state } = log;
    void log.close();
    return state;
  }

  async append(
    record: Parameters<NonNullable<ReturnType<FileTeams['open']>>['append']>[0],
    team = TEAM,
  ): Promise<void> {
    const log = this.teams.open(team);
    assert.ok(log !== undefined, `no team ${team}`);
    const { refusal } = await log.append(record);
    await log.close();
    assert.equal(refusal, null);
  }

  /** An event of the host about somebody. */
  event(who: string, name: HostEvent['name'], more: Partial<HostEvent> = {}): HostEvent {
    const isLead = who === 'team-lead';
    return {
      name,
      session: 'session-1',
      cwd: this.root,
      agentId: isLead ? null : `agent-of-${who}`,
      agentType: isLead ? null : `team-${who}`,
      tool: '',
      toolUseId: 'toolu_1',
      input: {},
      failure: null,
      prompt: '',
      source: '',
      transcript: null,
      teammate: null,
      team: null,
      task: null,
      ...more,
    };
  }

  async reasonOf(answer: Promise<HookAnswer>): Promise<string> {
    const given = await answer;
    assert.equal(given.kind, 'reject', JSON.stringify(given));
    return given.kind === 'reject' ? given.reason : '';
  }
}

/** The problems that a refusal of an operation's input names. */
export function problemsIn(refused: Refusal): readonly Refusal[] {
  isRefusal(refused, OPERATIONS_CODES.input_invalid);
  const { problems } = refused.values;
  assert.ok(Array.isArray(problems));
  return problems;
}

/** Their codes, with the field, and the known one that is near. */
export function problemsOf(refused: Refusal): readonly string[] {
  return problemsIn(refused).map(({ of, values: { field, near } }) =>
    [of.code, field, ...(near === undefined ? [] : ['near', near])].join(' '),
  );
}
