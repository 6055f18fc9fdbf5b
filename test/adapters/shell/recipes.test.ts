// Of recipes that make, just and turbo run by name it is told what they surely write.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileView } from '../../../src/adapters/shell/file-view.ts';
import { linesOfMake } from '../../../src/adapters/shell/programs/makefiles.ts';
import { readShell } from '../../../src/adapters/shell/read-shell.ts';

const MAKEFILE = String.raw`# what everybody runs
SOURCES := src
FLAGS = --write --log-level=warn # quiet
PRETTIER ?= npx prettier
NODE ?= node
FMT = $(PRETTIER) $(FLAGS) $(SOURCES)
TWICE = a
TWICE = b
ROUND = $(ROUND)
MORE = a
MORE += b
ifdef CI
  WHEN = a
else
	LATER = b
endif
define LONG
touch src/long
endef
.PHONY: all fmt deep \
  made

.DEFAULT_GOAL := all

all: fmt | made ; @echo done
fmt: plain
	@-$(FMT)
	- touch src/$(notdir a) src/$@
	touch src/kept
plain:
	X=b; touch src/$$X src/c\
	  src/d # a comment
given: ; touch src/$(NAME)
twice more:
	touch src/$(TWICE) src/e
	touch src/$(MORE)
	touch src/$(WHEN) $(LATER) $(ROUND)
	$(LONG)
	touch src/$(NAME) src/$(UNKNOWN)
	touch src/f
again: ; touch src/first
again: src/there
	touch src/last
%.o: %.c
	touch src/pattern
own: X = a
own: ; touch src/$(X)
many:: ; touch src/one
many:: ; touch src/two
src/there: package.json
	touch src/there
made: src/there src/new
	$(MAKE) -s more
src/new:
	touch $(CURDIR)/src/new
	touch src/new
test: format
	touch src/tested
format:
	prettier --write .
alias: fmt
both: fmt plain
round: ; $(MAKE) round; touch src/round; npm run round
sub: ; $(MAKE) -C lib
ifdef X
else
else_only:
	touch src/else
endif
`;

const JUSTFILE = String.raw`set shell := ["bash", "-uc"]
name := 'a:b'
alias f := fmt

# the first one
fmt: plain && (late "x")
    @prettier --write src
    touch src/{{name}}
    touch src/a \
      src/b
plain:
    -touch src/plain
late what='c':
    touch src/late
    touch "$1"
with *words: plain
    prettier --write "$@"
    touch src/with
[no-cd]
placed: plain
    touch src/placed
other: fmt
[private]
bash:
    #!/usr/bin/env bash
    cd src
    touch bash
python:
    #!/usr/bin/env python3
    touch = 1
`;

const FILES: Readonly<Record<string, string>> = {
  Makefile: MAKEFILE,
  justfile: JUSTFILE,
  'package.json': JSON.stringify({ scripts: { round: 'make round', format: 'make format', test: 'just fmt' } }),
  'src/there': '',
  'lib/makefile': 'all: ; touch a.ts\n',
  'lib/Makefile': 'all: ; touch no.ts\n',
  'lib/other.mk': 'all: ; touch other.ts\n',
  'lib/odd.mk': '.RECIPEPREFIX = >\nall:\n>touch odd.ts\n',
  'lib/python.mk': 'SHELL = /usr/bin/python3\nall: ; touch = 1\n',
  'lib/one.mk': '.ONESHELL:\nall: ; touch one.ts\n',
  'lib/deep/a': '',
  'many/package.json': JSON.stringify({ workspaces: ['packages/*'], scripts: { format: 'touch root.ts' } }),
  'many/packages/a/package.json': JSON.stringify({
    name: 'a',
    scripts: { format: 'prettier --write .', test: 'prettier --write .' },
  }),
  'many/packages/b/package.json': JSON.stringify({ name: '@x/b', scripts: { format: 'touch b.ts' } }),
  'pnpm/package.json': '{}',
  'pnpm/pnpm-workspace.yaml': 'packages: [a]\n',
  'pnpm/a/package.json': JSON.stringify({ scripts: { format: 'touch a.ts' } }),
};

let root = '';

before(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrew-recipes-')));
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
});

after(() => rmSync(root, { recursive: true }));

function read(command: string, env: Readonly<Record<string, string>> = {}) {
  return readShell(command, { cwd: root, home: '/nowhere', env: { SHELL: '/bin/bash', ...env }, ...fileView });
}

function told(command: string, env?: Readonly<Record<string, string>>): readonly string[] {
  const { writes, unresolved } = read(command, env);
  assert.deepEqual(unresolved, []);
  return writes.map(({ path, tree }) => relative(root, path) + (tree ? '/' : ''));
}

describe('recipes of make', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['make fmt', ['src/', 'src/kept']],
    ['make -j4 -k --silent fmt', ['src/', 'src/kept']],
    ['make plain', ['src/b', 'src/c', 'src/d']],
    ['make', []],
    ['make all', []],
    ['make alias', ['src/', 'src/kept']],
    ['make both', []],
    ['make fmt SOURCES=lib', ['lib/', 'src/kept']],
    ['gmake given NAME=x', ['src/x']],
    ['make given NAME="$X"', []],
    ['make given', []],
    ['make again', ['src/last']],
    ['make many', ['src/one', 'src/two']],
    ['make a.o own else_only nothing', []],
    ['make more', ['src/f']],
    ['make src/there', ['src/there']],
    ['make test', ['src/tested']],
    ['make format', ['/']],
    ['npm run format', ['/']],
    ['make round', ['src/round']],
    ['make sub', ['lib/a.ts']],
    ['make -C lib', ['lib/a.ts']],
    ['cd lib && make', ['lib/a.ts']],
    ['make -C lib -f other.mk', ['lib/other.ts']],
    ['make -f lib/other.mk', ['other.ts']],
    ['make -C lib -f odd.mk', []],
    ['make -C lib -f python.mk', []],
    ['make -C lib -f one.mk', []],
    ['make -n fmt', []],
    ['make --dry-run fmt', []],
    ['make -C nowhere', []],
  ];
  for (const [command, paths] of cases)
    it(`${command} surely writes ${paths.length === 0 ? 'nothing' : paths.join(', ')}`, () => {
      assert.deepEqual([...told(command)].sort(), [...paths].sort());
    });

  it('with a program that the environment may name are passed over', () => {
    assert.deepEqual(told('make fmt', { PRETTIER: 'cat' }), ['src/kept']);
    assert.deepEqual(told('export PRETTIER=cat; make fmt'), ['src/kept']);
  });

  it('are said to be what they are', () => {
    assert.deepEqual(
      read('make many').writes.map(({ script, by }) => ({ script, by })),
      [
        { script: 'make many', by: 'touch' },
        { script: 'make many', by: 'touch' },
      ],
    );
  });

  it('of a makefile that the command itself writes are not read', () => {
    const { writes, unresolved } = read('cp a Makefile; make fmt');
    assert.deepEqual(
      writes.map(({ path }) => relative(root, path)),
      ['Makefile'],
    );
    assert.equal(unresolved.length, 1);
  });

  const skip = spawnSync('make', ['--version']).error !== undefined && 'needs make';
  it('are the lines that make would run', { skip }, () => {
    const call = {
      given: new Map<string, string | null>(),
      isInEnvironment: () => false,
    };
    for (const goal of ['plain', 'again', 'many', 'format']) {
      const printed = execFileSync('make', ['-n', '--no-print-directory', goal], { cwd: root, encoding: 'utf8' });
      const lines = linesOfMake(MAKEFILE, { ...call, goals: [goal] }).map(({ line }) => `${line}\n`);
      assert.equal(lines.join(''), printed);
    }
  });
});

describe('recipes of just', () => {
  const PLAIN = ['src/plain'];
  const FMT = ['src/', 'src/a', 'src/b'];
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['just', FMT],
    ['just fmt', FMT],
    ['just f', FMT],
    ['cd lib/deep && just fmt', FMT],
    ['just --set name x fmt', FMT],
    ['just -f justfile plain', PLAIN],
    ['just -d lib -f justfile plain', ['lib/src/plain']],
    ['just late plain', ['src/late']],
    ['just plain bash', [...PLAIN, 'src/bash']],
    ['just with a b', ['src/with']],
    ['just placed', PLAIN],
    ['just other', FMT],
    ['just python', []],
    ['just nothing', []],
    ['just -n fmt', []],
    ['just --list', []],
    ['npm test', ['src/a', 'src/b']],
  ];
  for (const [command, paths] of cases)
    it(`${command} surely writes ${paths.length === 0 ? 'nothing' : paths.join(', ')}`, () => {
      assert.deepEqual([...told(command)].sort(), [...paths].sort());
    });
});

describe('scripts that turbo runs', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['cd many && npx turbo run format', ['many/packages/a/', 'many/packages/b/b.ts']],
    ['cd many/packages/b && turbo format', ['many/packages/a/', 'many/packages/b/b.ts']],
    ['cd many && npx turbo run format --filter=b', ['many/packages/b/b.ts']],
    ['cd many && turbo run format --filter=@x/b -- --all', ['many/packages/b/b.ts']],
    ['turbo run format --cwd=many -F a', ['many/packages/a/']],
    ['cd many && turbo run test', []],
    ['cd many && turbo run format --dry-run', []],
    ['cd pnpm && pnpm turbo run format', ['pnpm/a/a.ts']],
    ['turbo format', ['/']],
  ];
  for (const [command, paths] of cases)
    it(`${command} surely writes ${paths.length === 0 ? 'nothing' : paths.join(', ')}`, () => {
      assert.deepEqual([...told(command)].sort(), [...paths].sort());
    });
});
