// The roles a teammate can have, and the teams they are put together to.

/** `plan`: before there is a SPEC · `run`: while it is built · `debug`: while a cause is looked for. */
export type Phase = 'plan' | 'run' | 'debug';

/** `inherit`: the model of whoever leads. */
export type Model = 'haiku' | 'inherit';

export type RoleName =
  | 'researcher'
  | 'analyst'
  | 'architect'
  | 'backend-dev'
  | 'frontend-dev'
  | 'designer'
  | 'tester'
  | 'quality'
  | 'hypothesis-1'
  | 'hypothesis-2'
  | 'hypothesis-3';

export type Role = {
  /** By which messages reach the teammate. */
  readonly name: RoleName;
  readonly phase: Phase;
  readonly model: Model;
  /** Reads and reports; every write is refused. */
  readonly readOnly: boolean;
  readonly does: string;
  /** The skill it works by; null when it needs none. */
  readonly skill: string | null;
};

const HYPOTHESIS = {
  phase: 'debug',
  model: 'haiku',
  readOnly: true,
  does: 'Pursues one hypothesis about the cause of a failure',
  skill: null,
} as const;

export const ROLES: Readonly<Record<RoleName, Role>> = {
  researcher: {
    name: 'researcher',
    phase: 'plan',
    model: 'haiku',
    readOnly: true,
    does: 'Codebase exploration, architecture analysis',
    skill: 'tool-foundation-philosopher',
  },
  analyst: {
    name: 'analyst',
    phase: 'plan',
    model: 'inherit',
    readOnly: true,
    does: 'Requirements analysis, edge-case identification',
    skill: 'tool-workflow-spec',
  },
  architect: {
    name: 'architect',
    phase: 'plan',
    model: 'inherit',
    readOnly: true,
    does: 'Technical design, alternative evaluation',
    skill: 'tool-domain-architecture',
  },
  'backend-dev': {
    name: 'backend-dev',
    phase: 'run',
    model: 'inherit',
    readOnly: false,
    does: 'API, services, business logic',
    skill: null,
  },
  'frontend-dev': {
    name: 'frontend-dev',
    phase: 'run',
    model: 'inherit',
    readOnly: false,
    does: 'UI components, pages',
    skill: null,
  },
  designer: {
    name: 'designer',
    phase: 'run',
    model: 'inherit',
    readOnly: false,
    does: 'UI/UX design, design tokens',
    skill: null,
  },
  tester: {
    name: 'tester',
    phase: 'run',
    model: 'inherit',
    readOnly: false,
    does: 'Test writing, coverage verification',
    skill: null,
  },
  quality: {
    name: 'quality',
    phase: 'run',
    model: 'inherit',
    readOnly: true,
    does: 'Quality verification (TRUST 5), quality gates',
    skill: null,
  },
  'hypothesis-1': { name: 'hypothesis-1', ...HYPOTHESIS },
  'hypothesis-2': { name: 'hypothesis-2', ...HYPOTHESIS },
  'hypothesis-3': { name: 'hypothesis-3', ...HYPOTHESIS },
};

const PREFIX = 'team-';

/** The agent that plays a role, as a spawn names it: `team-backend-dev`. */
export function agentOf(role: string): string {
  return `${PREFIX}${role}`;
}

/** The role that an agent plays; undefined when it is none of a team's. */
export function roleOfAgent(agent: string): Role | undefined {
  return Object.values(ROLES).find((role) => agentOf(role.name) === agent);
}

/** Whether a role of that name writes nothing; one of the project's own writes. */
export function onlyReads(name: string): boolean {
  return Object.values(ROLES).some((role) => role.name === name && role.readOnly);
}

// Of the roles that come with the program, those that build nothing themselves, and the builders by name.
export const TESTER = 'tester';
export const QUALITY = 'quality';
export const DESIGNER = 'designer';
export const FRONTEND = 'frontend-dev';
export const BACKEND = 'backend-dev';

export function isBuilder(role: string): boolean {
  return role !== TESTER && role !== DESIGNER && !onlyReads(role);
}

export type PatternName =
  | 'plan_research'
  | 'implementation'
  | 'design_implementation'
  | 'quality_gate'
  | 'investigation';

export type Pattern = {
  readonly name: PatternName;
  readonly phase: Phase;
  readonly roles: readonly RoleName[];
  /** What sets it going, as a person would type it. */
  readonly trigger: string;
};

/** The teams that come with the program; the configuration may put others together. */
export const PATTERNS: Readonly<Record<PatternName, Pattern>> = {
  plan_research: {
    name: 'plan_research',
    phase: 'plan',
    roles: ['researcher', 'analyst', 'architect'],
    trigger: '/tool:1-plan --team, or complexity that was found',
  },
  implementation: {
    name: 'implementation',
    phase: 'run',
    roles: ['backend-dev', 'frontend-dev', 'tester'],
    trigger: '/tool:2-run <spec_id> --team',
  },
  design_implementation: {
    name: 'design_implementation',
    phase: 'run',
    roles: ['designer', 'backend-dev', 'frontend-dev', 'tester'],
    trigger: '--pattern=design_implementation',
  },
  quality_gate: {
    name: 'quality_gate',
    phase: 'run',
    roles: ['backend-dev', 'frontend-dev', 'tester', 'quality'],
    trigger: '--pattern=quality_gate',
  },
  investigation: {
    name: 'investigation',
    phase: 'debug',
    roles: ['hypothesis-1', 'hypothesis-2', 'hypothesis-3'],
    trigger: '/tool:build-fix --team',
  },
};
