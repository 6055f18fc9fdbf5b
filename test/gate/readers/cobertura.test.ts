import assert from 'node:assert/strict';
import test from 'node:test';
import { readCobertura } from '../../../src/gate/readers/cobertura.ts';
import { coverageOf } from '../../../src/gate/rules/coverage.ts';
import { fixtureText, testProject } from '../../support/checks.ts';

test('the reports of coverage.py and of istanbul', async () => {
  const python = await readCobertura(fixtureText('reports/coverage-py.xml'), '/project');
  assert.deepEqual(python.files[0], { path: 'shop.py', percent: 75, covered: 3, total: 4 });
  assert.ok(python.files.some((file) => file.path === 'tests/test_shop.py'));
  assert.deepEqual(
    await readCobertura(fixtureText('reports/cobertura-coverage.xml'), '/project'),
    coverageOf([
      { path: 'm/sum.js', covered: 6, total: 6 },
      { path: 'src/sum.js', covered: 4, total: 6 },
    ]),
  );
});

const report = (source: string, filename: string) =>
  `<?xml version="1.0"?><coverage><sources><source>${source}</source></sources><packages><package><classes>
  <class filename="${filename}"><methods><method><lines><line number="1" hits="0"/></lines></method></methods>
  <lines><line number="1" hits="2"/><line number="2" hits="0"/></lines></class>
  <class filename="${filename}"><lines><line number="2" hits="1"/></lines></class>
  </classes></package></packages></coverage>`;

test('files are named from the root, whatever their source; lines that come again count once', async () => {
  for (const [source, filename, path] of [
    ['/project', 'src/a.py', 'src/a.py'],
    ['/project/src', 'a.py', 'src/a.py'],
    ['.', 'src/a.py', 'src/a.py'],
    ['src/', 'a.py', 'src/a.py'],
    ['/elsewhere', 'a.py', 'a.py'],
    ['', '/project/src/a.py', 'src/a.py'],
  ] as const) {
    const { files } = await readCobertura(report(source, filename), '/project');
    assert.deepEqual(files, [{ path, percent: 100, covered: 2, total: 2 }], source);
  }
});

test('of several sources the one counts that has the file', async (t) => {
  const { root, write } = testProject(t, null);
  for (const path of ['src/web/b.py', 'tools/c.py', 'd.py']) write(path, '');
  for (const [filename, path] of [
    ['b.py', 'src/web/b.py'],
    ['tools/c.py', 'tools/c.py'],
    ['d.py', 'd.py'],
    ['gone.py', 'src/api/gone.py'],
  ] as const) {
    const { files } = await readCobertura(report(`${root}/src/api</source><source>${root}/src/web/`, filename), root);
    assert.equal(files[0]?.path, path);
  }
});
