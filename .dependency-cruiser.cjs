// domain ← engine ← adapters ← entry points: who may import whom. scripts/check-directions.ts runs it and proves that it looked.

/** A rule: nothing in `from` imports anything in `to`. */
const forbid = (name, comment, from, to, more = {}) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from, ...more.from },
  to: { path: to, ...more.to },
});

const ENTRIES = '^src/(cli\\.ts|mcp\\.ts|cli/|mcp/|host/|compose)';

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'a cycle has no first file to read',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    forbid(
      'domain-is-pure',
      'the domain does no I/O: neither layers above nor Node nor packages but one that matches patterns',
      '^src/domain/',
      '',
      {
        to: { pathNot: '^src/domain/|node_modules/(@types/)?picomatch/' },
      },
    ),
    forbid('engine-talks-to-ports', 'the engine knows the domain and its own ports', '^src/engine/', '', {
      to: { pathNot: '^src/(engine|domain)/' },
    }),
    forbid(
      'ports-are-types',
      'ports are types over the domain, nothing else',
      '^src/engine/(ports|team/(workshop|members|shell-guard)-port)\\.ts$',
      '',
      {
        to: { pathNot: '^src/domain/|^src/engine/ports\\.ts$' },
      },
    ),
    forbid('adapters-below-entries', 'adapters see the domain and the ports of the engine', '^src/adapters/', '^src/', {
      to: { pathNot: '^src/(adapters|domain)/|^src/engine/(ports|team/(workshop|members|shell-guard)-port)\\.ts$' },
    }),
    forbid(
      'http-shows-the-engine',
      'the server shows what the engine tells; it knows no adapter',
      '^src/http/',
      '^src/',
      {
        to: { pathNot: '^src/(http|domain|engine)/' },
      },
    ),
    forbid(
      'install-beside-entries',
      'what is put into projects is known to the commands that do it',
      '^src/(?!(cli|install)/)',
      '^src/install/',
    ),
    forbid(
      'install-needs-no-engine',
      'installing reads and writes files; nothing is decided over time',
      '^src/install/',
      '^src/',
      {
        to: { pathNot: '^src/(install|adapters|domain)/' },
      },
    ),
    forbid(
      'only-entries-compose',
      'compose.ts and compose-team.ts wire; only entry points call them',
      '^src/',
      '^src/compose',
      {
        from: { pathNot: ENTRIES },
      },
    ),
    forbid(
      'nobody-imports-entries',
      'entry points are started, not imported',
      '^src/(?!cli|mcp|host|compose)',
      '^src/(cli|mcp|host)',
    ),
    forbid('tests-stay-outside', 'the program runs without its tests', '^src/', '^(test|bench|scripts)/'),
    {
      name: 'one-adapter-per-package',
      comment: 'a package is known to one place: octokit to the hosting client, emulate to the forge',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/adapters/(github|forge)' },
      to: { path: 'node_modules/(@octokit|emulate)/' },
    },
    {
      name: 'one-parser-of-shells',
      comment: 'two files parse shell commands; one directory speaks the protocol of tools',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(adapters/(commands-in|obvious-writes)[.]ts$|mcp/)' },
      to: { path: 'node_modules/(unbash|@modelcontextprotocol)/' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
