// Rooms in one order: a room imports itself and the rooms before it. scripts/check-directions.ts runs these rules.

const ROOMS = [
  'base',
  'git',
  'guard',
  'gate',
  'agents',
  'team',
  'daemon',
  'fleet',
  'web',
  'claude-code',
  'install',
  'compose',
  'cli',
];

const ENTRIES = '^src/(cli|mcp)\\.ts$';
const RULES = '^src/[^/]+/rules/';
const PORTS = '[/-]ports?\\.ts$';
/** Decisions over time. The root of the room daemon belongs to it. */
const ENGINE = '^src/(daemon/[^/]+\\.ts$|daemon/publish/|team/(operations|lead|phases|select)/|claude-code/answers/)';
const SERVER = '^src/web/';
/** The rooms of the engine and those before; all in them that is neither engine nor rules is an adapter. */
const ADAPTERS = '^src/(base|git|guard|gate|agents|team|daemon)/';

/** A rule: nothing in `from` imports anything in `to`. */
const forbid = (name, comment, from, to, more = {}) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from, ...more.from },
  to: { path: to, ...more.to },
});

const order = ROOMS.slice(0, -1).map((room, index) =>
  forbid(
    `${room}-before-the-rest`,
    `${room} imports none of the later rooms`,
    `^src/${room}/`,
    `^src/(${ROOMS.slice(index + 1).join('|')})/`,
  ),
);

module.exports = {
  ROOMS,
  forbidden: [
    {
      name: 'no-circular',
      comment: 'a cycle has no first file to read',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...order,
    forbid('files-in-rooms', 'beside the rooms are only the entry files', '^src/', '', {
      from: { pathNot: `^src/(${ROOMS.join('|')})/|${ENTRIES}` },
    }),
    forbid('nobody-imports-entries', 'entry files are started, not imported', '^src/', ENTRIES),
    forbid(
      'rules-are-pure',
      'rules import rules: no I/O, no Node, no package but the one that matches patterns',
      RULES,
      '',
      { to: { pathNot: `${RULES}|node_modules/((@types/)?picomatch)/` } },
    ),
    forbid('ports-are-types', 'ports are types over rules and other ports', PORTS, '', {
      to: { pathNot: `${RULES}|${PORTS}` },
    }),
    forbid(
      'engine-takes-ports',
      'the engine imports rules, ports and itself; effects come in as arguments',
      ENGINE,
      '',
      {
        to: { pathNot: `${ENGINE}|${RULES}|${PORTS}|^src/(base/(supervisor|listeners)|agents/watchdog)\\.ts$` },
      },
    ),
    forbid('adapters-below-the-engine', 'adapters import rules and ports, not the engine', ADAPTERS, ENGINE, {
      from: { pathNot: `${RULES}|${ENGINE}` },
      to: { pathNot: PORTS },
    }),
    forbid(
      'web-shows-the-state',
      'the server shows the views of the engine, measured in columns; it imports no adapter',
      SERVER,
      '^src/',
      {
        to: { pathNot: `${SERVER}|${ENGINE}|${RULES}|${PORTS}|^src/base/display-width\\.ts$` },
      },
    ),
    forbid('tests-stay-outside', 'the program runs without its tests', '^src/', '^(test|bench|scripts)/'),
    forbid(
      'one-adapter-per-package',
      'one place imports a package: octokit the hosting client, emulate the forge',
      '^src/',
      'node_modules/(@octokit|emulate)/',
      { from: { pathNot: '^src/(daemon/github|cli/demo/forge)/' } },
    ),
    forbid(
      'one-starter-of-programs',
      'one folder starts programs and ends them, with its limits of time and output',
      '^src/',
      '^(node:)?child_process$',
      { from: { pathNot: '^src/base/processes/' } },
    ),
    forbid('one-adapter-per-store', 'one folder imports the queue', '^src/', 'node_modules/(bullmq|ioredis|pg)/', {
      from: { pathNot: '^src/fleet/store/' },
    }),
    forbid(
      'one-parser-of-shells',
      'one file parses shell commands; one folder speaks the protocol of tools',
      '^src/',
      'node_modules/(unbash|@modelcontextprotocol)/',
      { from: { pathNot: '^src/(guard/obvious-writes\\.ts$|claude-code/mcp/)' } },
    ),
    forbid(
      'one-measure-of-text',
      'one file measures text in columns of a terminal',
      '^src/',
      'node_modules/string-width/',
      { from: { pathNot: '^src/base/display-width\\.ts$' } },
    ),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
