// The write guard around commands of agents: what a shell call costs more, and what tools that write many files cost more.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execaSync } from 'execa';
import { prepareShell } from '../src/guard/guard-shell.ts';
import type { CallerRules } from '../src/guard/rules/policy.ts';
import { SHELL_VARIABLE } from '../src/guard/rules/ticket.ts';
import { createShellGuard } from '../src/guard/shell-guard.ts';
import { type Cleanup, tempDir } from '../test/support/temp.ts';
import { median, type Row, ratioOf, ratiosOf, spread, withCleanup } from './figures.ts';

const HERE = process.cwd();
const CALLS = 60;
/** Rounds of a tool that takes seconds. */
const ROUNDS = 5;
/** Rounds of a tool that takes about a second: single runs differ by a tenth. */
const SHORT_ROUNDS = 15;
/** 5 ms beside the 3.3 ms of a bare call, on the machine that the target was set on. */
const CALL_TARGET = 2.5;

/** Whoever calls owns everything: nothing is refused, and every write is judged. */
const RULES: CallerRules = {
  member: 'backend-dev',
  ownership: [{ owner: 'backend-dev', patterns: ['**'] }],
  claims: true,
  allow: [],
  keep: ['.claude', '.tool', '.mcp.json'],
  git: [],
  writesHistory: true,
};

/** A project with our shell. `guarded` gives the words that run a command as a call of a teammate. */
async function project(t: Cleanup) {
  const place = tempDir(t);
  const root = join(place, 'project');
  mkdirSync(root);
  execaSync`git init -q ${root}`;
  const env = { ...process.env, HOME: place, XDG_STATE_HOME: join(place, 'state'), SHELL: '/bin/bash' };
  const prepared = await prepareShell({ env, before: null, from: join(HERE, 'dist', 'native') });
  if (!prepared.ok) throw new Error(`no write guard here: ${prepared.why}`);
  const { shell } = prepared;
  const guard = createShellGuard({ root, main: root, env: { ...env, [SHELL_VARIABLE]: shell } });
  if (guard === null) throw new Error('our shell is not in use');
  let count = 0;
  const guarded = async (command: string): Promise<readonly string[]> => {
    count += 1;
    const call = await guard.mark({ team: 'bench', caller: 'backend-dev' }, command, `call${count}`, RULES);
    return [shell, '-c', call];
  };
  return { place, root, env, guarded };
}

/** ms, from the start of a process to its end. */
function timed([program = '', ...args]: readonly string[], cwd: string, env: NodeJS.ProcessEnv): number {
  const from = performance.now();
  execFileSync(program, args, { cwd, env, stdio: 'pipe' });
  return performance.now() - from;
}

async function call(): Promise<Row> {
  return withCleanup(async (t) => {
    const { root, env, guarded } = await project(t);
    const [bare, under]: [number[], number[]] = [[], []];
    for (let round = 0; round < CALLS; round++) {
      const words = await guarded(':');
      bare.push(timed(['/bin/bash', '-c', ':'], root, env));
      under.push(timed(words, root, env));
    }
    const ratio = median(ratiosOf(under, bare));
    return {
      what: 'a Bash call under the write guard',
      figure: ratioOf(ratio, spread(under, 'ms', 1)),
      floor: `bash -c ':' ${spread(bare, 'ms', 1)}`,
      target: `≤ ${CALL_TARGET} ×`,
      met: ratio <= CALL_TARGET,
    };
  });
}

type Tool = {
  readonly name: string;
  readonly command: string;
  /** `null`: shown, and held to nothing. */
  readonly target: number | null;
  readonly rounds: number;
  readonly program: string;
  readonly prepare: (root: string) => void;
  /** Makes the next run do the whole work again. */
  readonly again: (root: string, round: string) => void;
};

/** Packages of Go's own library that also build outside of it: code of every kind, about 60,000 lines. */
const GO_PACKAGES = [
  ...['archive/tar', 'archive/zip', 'bufio', 'compress/bzip2', 'compress/flate', 'compress/lzw', 'database/sql'],
  ...['debug/dwarf', 'debug/elf', 'debug/gosym', 'debug/macho', 'encoding/asn1', 'encoding/base64', 'encoding/csv'],
  ...['encoding/gob', 'encoding/json', 'encoding/xml', 'flag', 'go/ast', 'go/constant', 'go/doc/comment', 'go/printer'],
  ...[
    'html',
    'image/png',
    'index/suffixarray',
    'math/cmplx',
    'mime',
    'net/mail',
    'net/rpc',
    'net/textproto',
    'net/url',
  ],
  ...['path/filepath', 'regexp', 'regexp/syntax', 'text/scanner', 'text/tabwriter', 'text/template/parse'],
];
const EMPTY_GO_PACKAGES = Array.from({ length: 40 }, (_, index) => `part${index}`);

/** A program of packages, each of which is built again in each round. */
function goProgram(name: string, packages: readonly string[], rounds: number, target: number | null): Tool {
  const prepare = (root: string) => {
    const library = join(execaSync`go env GOROOT`.stdout, 'src');
    for (const path of packages) {
      mkdirSync(join(root, path), { recursive: true });
      const files = existsSync(join(library, path)) ? readdirSync(join(library, path)) : [];
      for (const file of files.filter((one) => one.endsWith('.go') && !one.endsWith('_test.go')))
        cpSync(join(library, path, file), join(root, path, file));
    }
    const imports = packages.map((path) => `\t_ "example.com/bench/${path}"\n`).join('');
    writeFileSync(join(root, 'main.go'), `package main\n\nimport (\n${imports})\n\nfunc main() {}\n`);
    writeFileSync(join(root, 'go.mod'), 'module example.com/bench\n\ngo 1.19\n');
  };
  const again = (root: string, round: string) => {
    for (const path of packages)
      writeFileSync(join(root, path, 'round.go'), `package ${basename(path)}\n\nconst benchRound = "${round}"\n`);
  };
  return { name, command: 'go build -o app .', target, rounds, program: 'go', prepare, again };
}

const TOOLS: readonly Tool[] = [
  {
    name: 'npm ci (packages of this project, from the cache of npm)',
    command: `npm ci --offline --ignore-scripts --no-audit --no-fund --cache ${JSON.stringify(npmCache())}`,
    target: 1.25,
    rounds: ROUNDS,
    program: 'npm',
    prepare: (root) => {
      for (const name of ['package.json', 'package-lock.json']) cpSync(join(HERE, name), join(root, name));
      writeFileSync(join(root, '.gitignore'), 'node_modules/\n');
    },
    again: (root) => rmSync(join(root, 'node_modules'), { recursive: true, force: true }),
  },
  {
    name: 'tsc (the rules of this project, with their output)',
    command: `node ${JSON.stringify(join(HERE, 'node_modules', 'typescript', 'bin', 'tsc'))} --outDir out`,
    target: 1.1,
    rounds: ROUNDS,
    program: 'node',
    prepare: (root) => {
      for (const room of readdirSync(join(HERE, 'src'))) {
        const rules = join('src', room, 'rules');
        if (existsSync(join(HERE, rules))) cpSync(join(HERE, rules), join(root, rules), { recursive: true });
      }
      const compilerOptions = {
        ...{ module: 'nodenext', target: 'es2023', skipLibCheck: true, rewriteRelativeImportExtensions: true },
        ...{ strict: true, types: ['node'], rootDir: 'src' },
      };
      symlinkSync(join(HERE, 'node_modules'), join(root, 'node_modules'));
      writeFileSync(join(root, 'package.json'), '{"type":"module"}');
      writeFileSync(join(root, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
    },
    again: (root) => rmSync(join(root, 'out'), { recursive: true, force: true }),
  },
  goProgram(`go build (${GO_PACKAGES.length} packages of Go's own library)`, GO_PACKAGES, ROUNDS, 1.1),
  goProgram(
    'go build (40 packages without code, the most writes for the least work)',
    EMPTY_GO_PACKAGES,
    SHORT_ROUNDS,
    null,
  ),
];

function npmCache(): string {
  return execaSync`npm config get cache`.stdout;
}

async function tool({ name, program, command, target, rounds, prepare, again }: Tool): Promise<Row> {
  const what = `under the write guard: ${name}`;
  const limit = target === null ? '–' : `≤ ${target} ×`;
  if (execaSync(program, ['help'], { reject: false }).code === 'ENOENT') {
    const figure = `not measured: ${program} is not installed`;
    return { what, figure, floor: '–', target: limit, met: false };
  }
  return withCleanup(async (t) => {
    const { root, env, guarded } = await project(t);
    prepare(root);
    const [bare, under]: [number[], number[]] = [[], []];
    // The first of each brings what comes after it into caches.
    again(root, 'cold');
    const options = { cwd: root, env, extendEnv: false, reject: false } as const;
    const { exitCode, stderr } = execaSync(options)`/bin/bash -c ${command}`;
    if (exitCode !== 0) {
      const figure = `not measured: it ended with ${exitCode} (${stderr.trim().split('\n').at(0)})`;
      return { what, figure, floor: '–', target: limit, met: false };
    }
    again(root, 'cold under');
    timed(await guarded(command), root, env);
    for (let round = 0; round < rounds; round++) {
      again(root, `${round} bare`);
      const floor = timed(['/bin/bash', '-c', command], root, env);
      again(root, `${round} under`);
      const took = timed(await guarded(command), root, env);
      bare.push(floor);
      under.push(took);
    }
    const ratio = median(ratiosOf(under, bare));
    return {
      what,
      figure: ratioOf(ratio, spread(under, 'ms')),
      floor: `without it ${spread(bare, 'ms')}`,
      target: limit,
      met: target === null || ratio <= target,
    };
  });
}

export async function writeGuard(): Promise<readonly Row[]> {
  const rows = [await call()];
  for (const one of TOOLS) rows.push(await tool(one));
  return rows;
}
