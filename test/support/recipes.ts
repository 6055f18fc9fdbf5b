// The recipes of CONTRIBUTING.md, and a copy of the project in which the example of one is applied step by step.

import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import ts from 'typescript';
import { compiledFile, compileTest } from '../../scripts/compile-tests.ts';
import { type Cleanup, finallyDo, tempDir } from './temp.ts';

type Step = {
  /** As it is written: `<name>` stands for any name. */
  readonly files: readonly string[];
  readonly check:
    | { readonly kind: 'tsc' }
    | { readonly kind: 'generated' }
    | { readonly kind: 'test'; readonly file: string; readonly name: string };
};

/** The steps below a heading. A test without a file is in the step's own file of tests, else in the first of the recipe. */
function stepsOf(heading: string): readonly Step[] {
  const part = readFileSync('CONTRIBUTING.md', 'utf8').split(`\n### ${heading}\n`)[1]?.split(/^##/m)[0] ?? '';
  const lines = part.trim().split('\n');
  assert.ok(lines.length <= 15, `${heading}: ${lines.length} lines`);
  const items = part.split(/\n\n(?!\d)/).flatMap((one) => one.split(/^\d+\. /m).slice(1));
  const steps = items.map((item): Step => {
    const [what = '', check = ''] = item.replaceAll(/\s+/g, ' ').trim().split(' Check: ');
    const files = [...(what.split(': ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
    if (check.startsWith('`tsc`')) return { files, check: { kind: 'tsc' } };
    if (check.startsWith('`npm run check`')) return { files, check: { kind: 'generated' } };
    const [, name = '', file] = /^the test "([^"]+)"(?: in `([^`]+)`)?\.$/.exec(check) ?? [];
    assert.notEqual(name, '', `${heading}: no check in: ${item}`);
    return { files, check: { kind: 'test', file: file ?? '', name } };
  });
  return steps.map((step) => {
    if (step.check.kind !== 'test' || step.check.file !== '') return step;
    const file = [step, ...steps].flatMap(({ files }) => files).find((one) => one.endsWith('.test.ts')) ?? '';
    return { ...step, check: { ...step.check, file } };
  });
}

function isNamedBy(pattern: string, file: string): boolean {
  const words = pattern.split(/<\w+>/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${words.join('[\\w-]+')}$`).test(file);
}

const { options: OPTIONS } = ts.parseJsonConfigFileContent(
  ts.readConfigFile('tsconfig.json', ts.sys.readFile).config,
  ts.sys,
  resolve('.'),
);

/** A copy of the project, in which one example after the other is applied. */
export class Copy {
  readonly #root: string;
  #patch = '';
  /** Those of the example. */
  files: readonly string[] = [];
  /** Those of all examples so far: the others stay as they were parsed. */
  readonly #changing = new Set<string>();
  readonly #parsed = new Map<string, ts.SourceFile>();
  #program: ts.Program | undefined;

  constructor(t: Cleanup) {
    this.#root = tempDir(t);
    for (const name of readdirSync('.').filter(
      (one) => !/^(?:node_modules|dist|\.git|\.cache|bench|native)$/.test(one),
    ))
      cpSync(name, join(this.#root, name), { recursive: true });
    symlinkSync(resolve('node_modules'), join(this.#root, 'node_modules'));
  }

  /** Until the test ends. */
  apply(t: Cleanup, patch: string): void {
    this.#patch = resolve(patch);
    const text = readFileSync(patch, 'utf8');
    this.files = [...text.matchAll(/^diff --git a\/(\S+) /gm)].map(([, file = '']) => file);
    for (const file of this.files) this.#changing.add(join(this.#root, file));
    finallyDo(t, () => {
      for (const file of this.files)
        if (existsSync(file)) cpSync(file, join(this.#root, file));
        else rmSync(join(this.#root, file), { force: true });
    });
    this.#run('git', 'apply', this.#patch);
  }

  #run(program: string, ...args: readonly string[]): string {
    const { exitCode, stdout, stderr } = this.#spawn(program, args);
    assert.equal(exitCode, 0, `${program} ${args.join(' ')}\n${stdout}${stderr}`);
    return stdout;
  }

  #spawn(program: string, args: readonly string[]) {
    const { NODE_TEST_CONTEXT: _, TOOLCREW_COMPILED: __, ...env } = process.env;
    return execaSync(program, args, { cwd: this.#root, env, extendEnv: false, reject: false });
  }

  /** Takes files of the example out, or puts them back. */
  leaveOut(files: readonly string[]): void {
    this.#run('git', 'apply', '-R', ...files.map((file) => `--include=${file}`), this.#patch);
  }

  putBack(files: readonly string[]): void {
    this.#run('git', 'apply', ...files.map((file) => `--include=${file}`), this.#patch);
  }

  /** Errors of the compiler in the files of the example. */
  typeErrors(): string {
    const names = this.files.filter((file) => file.endsWith('.ts')).map((file) => join(this.#root, file));
    const sources = names.filter((name) => existsSync(name));
    const host = ts.createCompilerHost(OPTIONS);
    const read = host.getSourceFile.bind(host);
    host.getSourceFile = (name, ...rest) => {
      const known = this.#parsed.get(name);
      if (known !== undefined && (!this.#changing.has(name) || known.text === ts.sys.readFile(name))) return known;
      const source = read(name, ...rest);
      if (source !== undefined) this.#parsed.set(name, source);
      return source;
    };
    const program = ts.createProgram(
      sources,
      { ...OPTIONS, typeRoots: [resolve('node_modules/@types')] },
      host,
      this.#program,
    );
    this.#program = program;
    const found = sources.flatMap((name) => {
      const source = program.getSourceFile(name);
      return source === undefined ? [] : program.getSemanticDiagnostics(source);
    });
    return ts.formatDiagnostics(found, {
      getCanonicalFileName: (name) => name,
      getCurrentDirectory: () => this.#root,
      getNewLine: () => '\n',
    });
  }

  /** What the check of a step says; empty when it passes. */
  async check({ check }: Step): Promise<string> {
    if (check.kind === 'tsc') return this.typeErrors();
    if (check.kind === 'generated') {
      const args = ['--import', 'tsx', 'scripts/generate.ts', '--check'];
      const { exitCode, stdout, stderr } = this.#spawn(process.execPath, args);
      return exitCode === 0 ? '' : `${stdout}${stderr}`;
    }
    const compiled = join(this.#root, '.cache');
    try {
      await compileTest(this.#root, check.file, compiled);
    } catch (error) {
      return String(error);
    }
    const args = ['--test-name-pattern', check.name, compiledFile(compiled, check.file)];
    const { exitCode, stdout, stderr } = this.#spawn(process.execPath, args);
    if (exitCode !== 0) return `${stdout}${stderr}`;
    assert.match(stdout, /^(?:#|ℹ) pass [1-9]/m, `${check.file}: no test "${check.name}"`);
    return '';
  }
}

/**
 * Follows a recipe with the example of that name in test/fixtures/recipes, then leaves out each step.
 * @param name of the example's addition
 */
export function followRecipe(copy: Copy, heading: string, example: string, name: string): void {
  test(`${heading}: the recipe's steps are enough, and a check names each that is left out`, async (t) => {
    const steps = stepsOf(heading);
    copy.apply(t, `test/fixtures/recipes/${example}.patch`);
    const named = steps.map(({ files }) => files.map((file) => copy.files.filter((one) => isNamedBy(file, one))));
    assert.deepEqual([...new Set(named.flat(2))].sort(), [...copy.files].sort());
    for (const [index, step] of steps.entries())
      for (const [at, file] of step.files.entries()) {
        assert.notDeepEqual(named[index]?.[at], [], `${file} is not in the example`);
        assert.ok(file.includes('<') || existsSync(file), `${file} is not there`);
      }
    assert.equal(copy.typeErrors(), '');
    const others = steps.filter(({ check }) => check.kind !== 'tsc');
    for (const step of new Map(others.map((one) => [JSON.stringify(one.check), one])).values())
      assert.equal(await copy.check(step), '', JSON.stringify(step.check));
    for (const [index, step] of steps.entries()) {
      const files = named[index]?.flat() ?? [];
      copy.leaveOut(files);
      const words = await copy.check(step);
      assert.ok(
        [name, ...files.map((file) => basename(file))].some((one) => words.includes(one)),
        `step ${index + 1} (${files.join(', ')}) is left out, and its check says: ${words}`,
      );
      copy.putBack(files);
    }
  });
}
