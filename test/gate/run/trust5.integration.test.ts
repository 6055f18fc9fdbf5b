// Over 400 lines: its cases change one project, which the file holds.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { execaSync } from 'execa';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import {
  DEFAULT_QUALITY,
  type Dimension,
  type GateResult,
  type QualitySettings,
} from '../../../src/gate/rules/quality.ts';
import type { Trust5 } from '../../../src/gate/rules/trust5.ts';
import type { WrittenFacts } from '../../../src/gate/rules/trust5-facts.ts';
import { measureCheckoutTrust5, measureTrust5, type Trust5Options } from '../../../src/gate/run/trust5.ts';
import { createWorkTree } from '../../../src/git/work-tree.ts';
import { commands, type TestProject, testProject } from '../../support/checks.ts';
import { joined, wordsLike, wordsOf } from '../../support/codes.ts';
import type { Cleanup } from '../../support/temp.ts';

const BIOME = fileURLToPath(new URL('../../../node_modules/.bin/biome', import.meta.url));
const SPEC = 'SPEC-GREET-001';
/** As a project names them: the linter of this one is biome. */
const TOOLS = commands({
  format: 'biome format --no-errors-on-unmatched .',
  complexity: 'biome lint --only=complexity/noExcessiveCognitiveComplexity .',
});

type Work = TestProject & {
  readonly base: string;
  /** Commits all that is there and gives the commit. */
  readonly commit: (message: string) => string;
  readonly score: (settings?: Partial<QualitySettings>, more?: Partial<Trust5Options>) => Promise<Trust5>;
};

const MEMBER = 'backend-dev@tool-run-x.toolcrew.invalid';

function gitIn(root: string, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=A', '-c', `user.email=${MEMBER}`, '-c', 'commit.gpgsign=false'];
  return execaSync({ cwd: root })`git ${who} ${args}`.stdout;
}

/** The fixture with its first commit; with biome as its formatter. */
function work(t: Cleanup, fixture: string | null = 'node', isFormatted = fixture === 'node'): Work {
  const project = testProject(t, fixture);
  const { root, write } = project;
  write('README.md', '# A project\n');
  if (isFormatted) {
    write(
      'biome.json',
      '{ "formatter": { "indentStyle": "space" }, "javascript": { "formatter": { "quoteStyle": "single" } }, "linter": { "rules": { "complexity": { "noExcessiveCognitiveComplexity": "error" } } } }\n',
    );
    write('.gitignore', 'coverage/\nnode_modules/\n');
    mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
    symlinkSync(BIOME, join(root, 'node_modules/.bin/biome'));
  }
  const commit = (message: string) => {
    gitIn(root, 'add', '-A');
    gitIn(root, 'commit', '-q', '-m', message);
    return gitIn(root, 'rev-parse', 'HEAD');
  };
  const base = commit('First');
  return {
    ...project,
    base,
    commit,
    score: async (settings = {}, more = {}) => {
      const all = { ...DEFAULT_QUALITY, ...settings };
      const gate = { tree: 't', ok: true, checks: [], coverage: null, uncoveredFiles: [] };
      const head = gitIn(root, 'rev-parse', 'HEAD');
      return measureTrust5({ root, base, head, gate, settings: all, spec: null, ...more });
    },
  };
}

function of(result: Trust5, dimension: Dimension) {
  const found = result.dimensions.find((one) => one.dimension === dimension);
  assert.ok(found);
  return found;
}

const FAREWELL =
  "export function farewell(name) {\n  return name === '' ? 'Bye!' : ['Bye, ', name, '!'].join('');\n}\n";
const FAREWELL_TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { farewell } from '../src/farewell.js';

test('says bye', () => assert.equal(farewell('Ada'), 'Bye, Ada!'));
test('says bye to nobody', () => assert.equal(farewell(''), 'Bye!'));
`;

test('a project that is as it should be: five dimensions, measured by its own tools', async (t) => {
  const project = work(t);
  project.write('src/farewell.js', FAREWELL);
  project.write('test/farewell.test.js', FAREWELL_TEST);
  const head = project.commit(`Say bye\n\nFor ${SPEC}.\n\nTask: 3\n`);
  const gate = await project.gate();
  const result = await project.score(TOOLS, { gate, spec: SPEC, tasks: ['3'] });
  assert.equal(gate.coverage, 100);
  assert.deepEqual(
    result.dimensions.map(({ dimension, state, score, figures, source }) => [dimension, state, score, figures, source]),
    [
      [
        'tested',
        'passed',
        5,
        ['tests: 5 tests pass', `coverage: ${gate.checks.find(({ check }) => check === 'coverage')?.reason}`],
        of(result, 'tested').source,
      ],
      [
        'readable',
        'passed',
        5,
        ['lint: no lint errors', 'complexity: 2 of 2 changed files without a finding'],
        'npm run lint; biome lint --only=complexity/noExcessiveCognitiveComplexity .',
      ],
      ['unified', 'passed', 5, ['formatter: 2 of 2 changed files without a finding'], TOOLS.commands.format],
      [
        'secured',
        'passed',
        5,
        ['security: no security findings', 'secrets: 0 in 9 added lines'],
        `npm run audit; git log -p ${project.base.slice(0, 12)}..${head.slice(0, 12)}`,
      ],
      [
        'trackable',
        'passed',
        5,
        ['commits: 1 of 1 names a task', `commits: 1 of 1 names ${SPEC}`],
        `git log ${project.base.slice(0, 12)}..${head.slice(0, 12)}`,
      ],
    ],
  );
  assert.match(of(result, 'tested').source, /^node --experimental-test-coverage .* --test$/);
  assert.deepEqual([result.score, result.ok, result.securityIssues], [5, true, 0]);
});

test('what is wrong is found with its place, by each of the five', async (t) => {
  const project = work(t);
  const token = `${'gh'}p_${'a1B2c3D4e5f6'.repeat(3)}`;
  const branches = Array.from({ length: 26 }, (_, index) => `  if (name === '${index}') return ${index};`).join('\n');
  project.write('src/odd.js', `export const ok = 1;\n\nexport function pick(name) {\n${branches}\n  return  -1;\n}\n`);
  project.write('src/config.js', `export const key = '${token}';\n`);
  project.commit('Something\n\nTask: 9\n');
  project.write('src/greet.js', 'export const greet = (name) => name;\nexport const shout = greet;\n');
  const head = project.commit('Something else');
  const gate = await project.gate();
  const result = await project.score(TOOLS, { gate, spec: SPEC, tasks: ['1'] });
  assert.deepEqual(
    result.dimensions.map(({ dimension, state }) => `${dimension} ${state}`),
    ['tested failed', 'readable failed', 'unified failed', 'secured failed', 'trackable failed'],
  );
  assert.deepEqual(
    of(result, 'readable').findings.map(({ path, line }) => [path, line]),
    [['src/odd.js', 3]],
  );
  assert.deepEqual(
    of(result, 'unified').findings.map(({ path }) => path),
    ['src/odd.js'],
  );
  assert.deepEqual(of(result, 'unified').figures, [
    'formatter: 2 of 3 changed files without a finding',
    'expected at least 5',
  ]);
  assert.deepEqual(of(result, 'secured').findings, [{ path: 'src/config.js', line: 1, words: 'GitHub Token' }]);
  assert.equal(result.securityIssues, 1);
  assert.equal(JSON.stringify(result).includes(token), false, 'the value is shown nowhere');
  assert.deepEqual(of(result, 'trackable').figures, [
    'commits: 0 of 2 name a task',
    `commits: 0 of 2 name ${SPEC}`,
    'expected at least 5',
  ]);
  const { words, path } = of(result, 'trackable').findings[1] ?? {};
  assert.deepEqual([words, path], [`commit ${head.slice(0, 7)} (Something else) does not name a task`, 'src/greet.js']);
});

test('a commit by nobody of the team is held to none of its rules, and is counted apart', async (t) => {
  const project = work(t, null);
  const person = ['-c', 'user.email=p@example.com', 'commit', '-q', '--allow-empty', '-m'];
  gitIn(project.root, ...person, 'A word of mine');
  assert.deepEqual(of(await project.score(), 'trackable').figures, [
    wordsOf(GATE_CODES.part_not_measured, {
      part: 'commits',
      why: 'there is no commit of the team; 1 by nobody of the team, not counted; a commit of your own counts when its message has `Task: <id>` on a line of its own: git commit --amend',
    }),
  ]);
  project.write('a.js', 'a();\n');
  project.commit('Work\n\nTask: 1');
  const { state, figures } = of(await project.score(), 'trackable');
  assert.deepEqual(
    [state, figures],
    ['passed', ['commits: 1 of 1 names a task; 1 by nobody of the team, not counted']],
  );
  // What a member commits under another name is the team's by the merge of its task's work.
  const before = gitIn(project.root, 'rev-parse', 'HEAD');
  gitIn(project.root, ...person, 'Mine, in truth');
  const side = gitIn(project.root, 'rev-parse', 'HEAD');
  gitIn(project.root, 'reset', '-q', '--hard', before);
  gitIn(project.root, 'merge', '-q', '--no-ff', '-m', 'Merge the work\n\nTask: 2', side);
  assert.deepEqual(of(await project.score(), 'trackable').figures, [
    'commits: 2 of 2 name a task; 1 by nobody of the team, not counted',
  ]);
});

test('where a person has squashed the commits of the team, that one counts when it names a task of the team and the SPEC', async (t) => {
  const project = work(t, null);
  const { root } = project;
  const base = gitIn(root, 'rev-parse', 'HEAD');
  for (const id of ['1', '2']) {
    project.write(`${id}.js`, 'a();\n');
    project.commit(`Work ${id}\n\nFor ${SPEC}.\n\nTask: ${id}`);
  }
  const works = gitIn(root, 'rev-parse', 'HEAD');
  const person = ['-c', 'user.name=P', '-c', 'user.email=p@example.com', '-c', 'commit.gpgsign=false', 'commit', '-q'];
  const squashed = async (...message: readonly string[]) => {
    gitIn(root, 'reset', '-q', '--hard', base);
    gitIn(root, 'merge', '-q', '--squash', works);
    gitIn(root, ...person, ...message);
    const { state, figures } = of(await project.score({}, { spec: SPEC, tasks: ['1', '2'] }), 'trackable');
    return [state, ...figures];
  };
  const counted = ['passed', 'commits: 1 of 1 names a task', `commits: 1 of 1 names ${SPEC}`];
  assert.deepEqual(await squashed('--no-edit'), counted, 'as git writes it, with the messages of all');
  assert.deepEqual(await squashed('-m', `All of it\n\n* Work\n  task: #2\n\nFor ${SPEC}, as was said.`), counted);
  assert.deepEqual(await squashed('-m', `All\n\nFor ${SPEC}.\n\nTask: 9, 2`), counted);
  const loose = [
    'not_measured',
    wordsOf(GATE_CODES.part_not_measured, {
      part: 'commits',
      why: `there is no commit of the team; 1 by nobody of the team, not counted; a commit of your own counts when its message has \`Task: <id>\` on a line of its own (1, 2), and names ${SPEC}: git commit --amend`,
    }),
  ];
  for (const words of ['All of it', `All of ${SPEC}`, 'All\n\nTask: 1', `${SPEC}\n\nTask: 9`, `${SPEC}, Task: 1`])
    assert.deepEqual(await squashed('-m', words), loose, words);
});

test('what a person merges counts as the team’s by a trailer of the merge alone', async (t) => {
  const project = work(t, null);
  const { root } = project;
  const person = ['-c', 'user.email=p@example.com'];
  gitIn(root, 'checkout', '-q', '-b', 'side');
  project.write('a.js', 'a();\n');
  project.commit('Under no task');
  gitIn(root, 'checkout', '-q', '-');
  gitIn(root, ...person, 'merge', '-q', '--no-ff', '-m', 'Merge\n\n  Task: 1\n\nAnd more.', 'side');
  const { state, figures } = of(await project.score({}, { tasks: ['1'] }), 'trackable');
  assert.deepEqual([state, figures[0]], ['failed', 'commits: 0 of 1 name a task']);
});

test('a secret that a later commit takes out is still in the history', async (t) => {
  const project = work(t, null);
  project.write('.env', `API_TOKEN=${'gh'}p_${'a1B2c3D4e5f6'.repeat(3)}\n`);
  const bad = project.commit('Add it');
  rmSync(join(project.root, '.env'));
  project.commit('Take it out');
  const { findings, figures } = of(await project.score(), 'secured');
  assert.deepEqual(
    [findings, figures[1]],
    [
      [
        {
          path: '.env',
          line: 1,
          words: `GitHub Token, removed since, but commit ${bad.slice(0, 7)} still holds it`,
          heldBy: bad.slice(0, 7),
        },
      ],
      'secrets: 1 in 0 added lines',
    ],
  );
});

test('what the settings say is no secret is none, there and in the history, and is counted apart', async (t) => {
  const project = work(t, null);
  const token = `${'gh'}p_${'a1B2c3D4e5f6'.repeat(3)}`;
  project.write('test/fixtures/a.txt', `${token}\n`);
  project.write('src/a.js', `const token = '${token}';\n`);
  project.commit('Add them');
  project.write('src/a.js', 'const token = null;\n');
  project.commit('Take one out');
  const found = async (secrets: Partial<QualitySettings['secrets']>) => {
    const { figures, findings } = of(
      await project.score({ secrets: { ...DEFAULT_QUALITY.secrets, ...secrets } }),
      'secured',
    );
    return [figures[1], ...findings.map(({ path }) => path)];
  };
  assert.deepEqual(await found({}), ['secrets: 2 in 2 added lines', 'test/fixtures/a.txt', 'src/a.js']);
  assert.deepEqual(await found({ allowedPaths: ['test/fixtures/**'] }), [
    'secrets: 1 in 2 added lines, and 1 allowed (quality.secrets)',
    'src/a.js',
  ]);
  assert.deepEqual(await found({ allowedValues: [token] }), [
    'secrets: 0 in 2 added lines, and 2 allowed (quality.secrets)',
  ]);
});

test('what a repository configures hides no line of it', async (t) => {
  const project = work(t, null);
  project.write('.gitattributes', '* binary\n* diff=none\n');
  gitIn(project.root, 'config', 'diff.none.textconv', 'true');
  gitIn(project.root, 'config', 'diff.none.command', 'true');
  gitIn(project.root, 'config', 'color.ui', 'always');
  gitIn(project.root, 'config', 'diff.noprefix', 'true');
  project.write('a\tb.txt', `++ b/other.txt\n${'gh'}p_${'a1B2c3D4e5f6'.repeat(3)}\n`);
  project.commit('Add it');
  assert.deepEqual(of(await project.score(), 'secured').findings, [
    { path: 'a\tb.txt', line: 2, words: 'GitHub Token' },
  ]);
});

test('the state of nothing: what there is no tool for is not measured, and the whole does not pass', async (t) => {
  const project = work(t, null);
  project.write('main.py', 'if x:\n    y = 1\n');
  project.commit('Work\n\nTask: 1');
  const result = await project.score();
  const none = (part: string, key: string) =>
    wordsOf(GATE_CODES.part_not_measured, { part, why: `the project has no manifest: set quality.commands.${key}` });
  assert.deepEqual(
    result.dimensions.map(({ dimension, state, figures }) => [
      ...[dimension, state],
      figures.at(-1)?.replace(/has no .*:/, 'has no manifest:'),
    ]),
    [
      ['tested', 'not_measured', 'quality.required names tests and coverage'],
      ['readable', 'not_measured', none('complexity', 'complexity')],
      ['unified', 'not_measured', none('formatter', 'format')],
      ['secured', 'passed', 'secrets: 0 in 2 added lines'],
      ['trackable', 'passed', 'commits: 1 of 1 names a task'],
    ],
  );
  assert.equal(result.ok, false);
  assert.equal((await project.score({ required: [] })).ok, true);
});

test('no commit is no track; commits that are not there are not measured', async (t) => {
  const project = work(t, null);
  assert.equal(of(await project.score(), 'trackable').state, 'not_measured');
  const result = await project.score({}, { base: 'f'.repeat(40) });
  for (const dimension of ['unified', 'secured', 'trackable'] as const)
    assert.match(
      of(result, dimension).figures.at(-1) ?? '',
      wordsLike(GATE_CODES.part_not_measured, { why: /git \w+ failed/ }),
    );
});

test('a file of the project that cannot be read is said', async (t) => {
  const project = work(t, null);
  project.write('package.json', '{ nothing');
  project.commit('Break it');
  assert.match(
    of(await project.score(), 'unified').figures[0] ?? '',
    wordsLike(GATE_CODES.part_not_measured, { why: /package\.json: expected JSON/ }),
  );
});

test('a trailer is a trailer, and names a task that there is; merges are not counted', async (t) => {
  const project = work(t, null);
  const { root } = project;
  gitIn(root, 'checkout', '-q', '-b', 'side');
  project.write('a.txt', 'a\n');
  project.commit('Side\n\ntask: #2\nSigned-off-by: A <a@example.com>');
  gitIn(root, 'checkout', '-q', '-');
  project.write('b.txt', 'b\n');
  project.commit('Main\n\nTask: 1 is what this is for.\n\nMore words.');
  gitIn(root, 'merge', '-q', '--no-ff', '-m', 'Merge', 'side');
  const trackable = async (tasks: readonly string[]) => of(await project.score({}, { tasks }), 'trackable');
  const { figures, score } = await trackable(['1', '2']);
  assert.deepEqual([figures, score], [['commits: 1 of 2 names a task', 'expected at least 5'], 2.5]);
  assert.equal((await trackable(['1'])).figures[0], 'commits: 0 of 2 name a task', 'nobody has task 2');
});

test('what a merge brings in is for what the merge names, and nothing else is', async (t) => {
  const project = work(t, null);
  const { root } = project;
  const add = (path: string, message: string) => {
    project.write(path, 'x\n');
    project.commit(message);
  };
  gitIn(root, 'checkout', '-q', '-b', 'side');
  add('a.txt', 'One');
  add('b.txt', 'Two');
  gitIn(root, 'checkout', '-q', '-');
  add('c.txt', 'Beside it');
  gitIn(root, 'merge', '-q', '--no-ff', '-m', `Merge side\n\nFor ${SPEC}.\n\nTask: 4`, 'side');
  add('d.txt', 'After it');
  const { figures, findings } = of(await project.score({}, { spec: SPEC, tasks: ['4'] }), 'trackable');
  assert.deepEqual(figures, ['commits: 2 of 4 name a task', `commits: 2 of 4 name ${SPEC}`, 'expected at least 5']);
  assert.deepEqual(
    findings.map(({ path }) => path),
    ['c.txt', 'd.txt', 'c.txt', 'd.txt'],
  );
});

test('a command decides by its exit code; its findings are the lines that name a changed file', async (t) => {
  const project = work(t);
  project.write('src/a.js', 'export const a  =  1;\n');
  project.commit('Add a');
  const good = await project.score(commands({ format: 'true', complexity: 'echo src/a.js:1 is odd' }));
  assert.deepEqual([of(good, 'unified').state, of(good, 'unified').source], ['passed', 'true']);
  assert.equal(of(good, 'readable').figures[1], 'complexity: 1 of 1 changed file without a finding');
  const bad = await project.score(
    commands({
      format: 'echo "[warn] src/a.js"; exit 1',
      complexity: 'echo src/a.js:1:2 f is deep; echo sum: 1; exit 1',
    }),
  );
  assert.deepEqual(
    of(bad, 'unified').findings.map(({ path }) => path),
    ['src/a.js'],
  );
  assert.deepEqual(of(bad, 'readable').findings, [{ path: 'src/a.js', line: 1, words: 'f is deep' }]);
  const gone = await project.score(commands({ format: 'no-such-formatter', complexity: 'no-such-measure' }));
  assert.match(
    of(gone, 'unified').figures[0] ?? '',
    wordsLike(GATE_CODES.check_not_runnable, { command: 'formatter: no-such-formatter', said: /.*not found/ }),
  );
  assert.match(
    of(gone, 'readable').figures[1] ?? '',
    wordsLike(GATE_CODES.check_not_runnable, { command: 'complexity: no-such-measure', said: /.*not found/ }),
  );
  assert.deepEqual([of(gone, 'unified').state, of(gone, 'readable').state], ['failed', 'failed']);
});

test('what does not end in time has failed', async (t) => {
  const project = work(t);
  project.write('src/a.js', 'export const a = 1;\n');
  project.commit('Add a');
  const result = await project.score({ ...commands({ format: 'sleep 60' }), timeoutMs: 100 });
  assert.match(of(result, 'unified').figures[0] ?? '', /^formatter: sleep 60 did not end in time/);
  assert.equal(of(result, 'unified').state, 'failed');
});

test('what a command finds in files that nobody changed is no finding of the change; what names none has failed', async (t) => {
  const project = work(t);
  project.write('src/old.js', 'export  const old = 1;\n');
  project.write('package.json', '{ "type": "module", "scripts": { "format:check": "sh format.sh" } }');
  project.write('format.sh', 'exit 0\n');
  const base = project.commit('Begin');
  project.write('src/a.js', 'export const a = 1;\n');
  const unified = async (script: string) => {
    project.write('format.sh', script);
    project.commit('Change it');
    return of(await project.score({}, { base }), 'unified');
  };
  const old = await unified('echo "[warn] src/old.js"; echo "[warn] Code style issues found."; exit 1\n');
  assert.deepEqual([old.state, old.findings], ['passed', []], JSON.stringify(old));
  const own = await unified('echo "[warn] src/old.js"; echo "[warn] src/a.js"; exit 1\n');
  assert.deepEqual([own.state, own.findings.map(({ path }) => path)], ['failed', ['src/a.js']]);
  const silent = await unified('echo "it broke"; exit 1\n');
  assert.deepEqual(
    [silent.state, silent.figures[0]],
    ['failed', 'formatter: npm run format:check ended with 1: it broke'],
  );
});

/** What is built in a checkout, without a commit: between the trees of its beginning and its end. */
async function checkout(t: Cleanup, written: WrittenFacts['written'] = []) {
  const project = work(t);
  const objects = join(project.root, '.tool', 'cache', 'objects');
  const tree = async () => (await createWorkTree({ root: project.root, objects }).tree()) ?? '';
  const base = await tree();
  return {
    ...project,
    score: async (
      head?: string,
      gate: GateResult = { tree: 't', ok: true, checks: [], coverage: null, uncoveredFiles: [] },
    ) => {
      const change = head === undefined ? { base, head: await tree() } : { unmeasured: head };
      const facts = { source: 'log of x', spec: SPEC, written };
      const given = {
        root: project.root,
        gate,
        settings: { ...DEFAULT_QUALITY, ...TOOLS },
        change,
        objects,
        written: facts,
      };
      return measureCheckoutTrust5(given);
    },
  };
}

test('work without commits: the same five dimensions, between trees, and by the log of the team', async (t) => {
  const project = await checkout(t, [{ path: 'src/farewell.js', task: '3' }]);
  project.write('src/farewell.js', FAREWELL);
  project.write('test/farewell.test.js', FAREWELL_TEST);
  const gate = await project.gate();
  const result = await project.score(undefined, gate);
  assert.equal(gate.coverage, 100);
  assert.deepEqual(
    result.dimensions.map(({ dimension, state, score, figures }) => [dimension, state, score, figures.at(-1)]),
    [
      ['tested', 'passed', 5, `coverage: ${gate.checks.find(({ check }) => check === 'coverage')?.reason}`],
      ['readable', 'passed', 5, 'complexity: 2 of 2 changed files without a finding'],
      ['unified', 'passed', 5, 'formatter: 2 of 2 changed files without a finding'],
      ['secured', 'passed', 5, 'secrets: 0 in 9 added lines'],
      ['trackable', 'passed', 5, `files: 1 of 1 written under a task of ${SPEC}`],
    ],
  );
  assert.match(of(result, 'secured').source, /git diff [0-9a-f]{12}\.\.[0-9a-f]{12}$/);
  assert.equal(of(result, 'trackable').source, 'log of x');
});

test('work without commits: what is wrong in it is found where it stands', async (t) => {
  const project = await checkout(t, [
    { path: 'src/farewell.js', task: '3' },
    { path: 'src/key.js', task: null },
  ]);
  project.write('src/farewell.js', FAREWELL.replace('return', 'return   '));
  project.write('src/key.js', `export const apiKey = '${'gh'}p_${'a1B2c3D4e5f6'.repeat(3)}';\n`);
  const result = await project.score();
  assert.deepEqual([of(result, 'trackable').state, of(result, 'trackable').score], ['failed', 2.5]);
  assert.deepEqual(of(result, 'trackable').findings, [
    { path: 'src/key.js', line: null, words: 'changed under no task that the log knows' },
  ]);
  assert.deepEqual(
    [of(result, 'unified').state, of(result, 'unified').findings[0]?.path],
    ['failed', 'src/farewell.js'],
  );
  assert.deepEqual(
    of(result, 'secured').findings.map(({ path, line }) => [path, line]),
    [['src/key.js', 1]],
  );
});

test('work without commits, and without trees: what needs them is not measured, and says why', async (t) => {
  const project = await checkout(t, { unmeasured: 'the cache is gone' });
  const result = await project.score('the cache is gone');
  for (const dimension of ['readable', 'unified', 'secured', 'trackable'] as const) {
    assert.equal(of(result, dimension).state, 'not_measured');
    assert.match(
      of(result, dimension).figures.at(-1) ?? '',
      joined(wordsLike(GATE_CODES.part_not_measured, { why: 'the cache is gone' }), /$/),
    );
  }
  assert.equal(result.ok, false);
});
