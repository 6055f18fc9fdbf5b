// Tools of languages that build, test and keep a project's modules: the files they write as far as that is clear from their words.

import { type OptionsSpec, readOptions } from '../options.ts';
import { absolute, parentOf } from '../paths.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { isToldToUpdate, updateAll } from './snapshots.ts';
import { goTool } from './sql-and-go.ts';

const go: Program = (call) => {
  const [verb, ...rest] = call.args;
  const { reader, shell } = call;
  if (verb === 'fmt' || verb === 'fix' || verb === 'generate') {
    const packages = rest.filter((arg) => !isText(arg) || !arg.startsWith('-'));
    for (const one of packages.length === 0 ? ['.'] : packages) {
      const directory = isText(one) ? one.replace(/\/?\.\.\.$/, '') || '.' : one;
      reader.write(shell, directory, `go ${verb}`, { tree: true, entry: true });
    }
  } else if (verb === 'get' || (verb === 'mod' && !GO_READING.has(`${rest[0]}`))) {
    for (const file of ['go.mod', 'go.sum']) reader.write(shell, file, `go ${verb}`);
    if (rest[0] === 'vendor') reader.write(shell, 'vendor', 'go mod vendor', { tree: true });
  } else if (verb === 'build') {
    const options = readOptions(rest, {
      singleDash: true,
      long: ['o=', 'p=', 'tags=', 'ldflags=', 'gcflags=', 'asmflags=', 'mod=', 'buildmode=', 'toolexec=', 'exec='],
    });
    for (const file of options.all('o'))
      reader.write(shell, file, 'go build -o', { tree: isText(file) && file.endsWith('/') });
    if (options.has('toolexec')) reader.unresolved('go build -toolexec runs another program');
  } else if (verb === 'test') {
    const options = readOptions(rest, GO_TEST);
    for (const file of options.all(...GO_TEST_FILES)) reader.write(shell, file, 'go test', { tree: true });
    updateGolden(call, rest);
  } else if (verb === 'work' && rest[0] !== 'edit') reader.write(shell, 'go.work', 'go work');
  else if (verb === 'run') {
    for (const file of rest) if (isText(file) && file.endsWith('.go')) reader.executed(shell, file, 'go run');
    const tool = goTool(readOptions(rest, GO_RUN).operands);
    if (tool !== null) reader.runWords(tool, shell, call.stdin, 'program');
  } else if (verb === 'tool') {
    const { operands } = readOptions(rest, GO_RUN);
    const tool = goTool(operands) ?? operands;
    if (tool.length > 0 && !GO_OWN.has(tool[0] ?? '')) reader.runWords(tool, shell, call.stdin, 'program');
  }
  return undefined;
};

/** Flags by which tests, that read them, write what they find as what is expected. */
const GOLDEN: ReadonlySet<string> = new Set(
  'update update-golden update_golden updateGolden golden.update regenerate regen'.split(' '),
);

function isGolden(word: Field): boolean {
  const [, name = '', text = ''] = (isText(word) && /^--?(?:test\.)?([\w.-]+)(?:=(.*))?$/s.exec(word)) || [];
  return GOLDEN.has(name) && text !== 'false' && text !== '0';
}

/** Packages stand before all flags that are not of `go test` itself. */
function updateGolden(call: Call, words: readonly Field[]): void {
  const at = words.findIndex(isGolden);
  if (at === -1 && !isToldToUpdate(call)) return;
  const packages = readOptions(at === -1 ? words : words.slice(0, at), GO_TEST).operands;
  const by = 'go test that updates files';
  if (packages.length === 0) call.reader.write(call.shell, '.', by, { tree: true, entry: true });
  for (const one of packages) {
    const path = isText(one) ? /^(\.{1,2}(?:\/.*?)?)\/?(?:\/\.\.\.)?$/s.exec(one)?.[1] : undefined;
    if (path === undefined || path.includes('...')) updateAll(call, by, ['go.mod']);
    else call.reader.write(call.shell, path, by, { tree: true, entry: true });
  }
}

const GO_TEST_FILES = [
  'o',
  'coverprofile',
  'cpuprofile',
  'memprofile',
  'blockprofile',
  'mutexprofile',
  'trace',
  'outputdir',
];

const GO_TEST: OptionsSpec = {
  singleDash: true,
  isExact: true,
  long: [...GO_TEST_FILES, 'run', 'tags', 'timeout', 'count', 'exec'].map((name) => `${name}=`),
};

const GO_RUN: OptionsSpec = {
  singleDash: true,
  isExact: true,
  stopsAtOperand: true,
  long: 'C mod modfile tags exec ldflags gcflags asmflags p overlay'.split(' ').map((name) => `${name}=`),
};

/** Tools of Go itself, whose words are theirs alone. */
const GO_OWN: ReadonlySet<Field> = new Set<Field>(
  'addr2line asm buildid cgo compile covdata cover dist doc fix link nm objdump pack pprof test2json trace vet'.split(
    ' ',
  ),
);

const GO_READING: ReadonlySet<string> = new Set(['download', 'verify', 'graph', 'why']);

const cargo: Program = (call) => {
  const args = call.args.filter((arg) => !isText(arg) || !arg.startsWith('+'));
  const [verb, ...rest] = args;
  const { reader, shell } = call;
  if (verb === 'watch') {
    reader.runWords(['cargo-watch', ...rest], shell, call.stdin, 'program');
    return undefined;
  }
  const options = readOptions(rest, {
    isExact: true,
    long: ['target-dir=', 'out-dir=', 'artifact-dir=', 'root=', 'manifest-path='],
  });
  for (const path of options.all('target-dir', 'out-dir', 'artifact-dir', 'root'))
    reader.write(shell, path, `cargo ${isText(verb) ? verb : ''}`, { tree: true });
  const has = (...flags: readonly string[]) => rest.some((arg) => isText(arg) && flags.includes(arg));
  if ((verb === 'fmt' && !has('--check')) || verb === 'fix' || (verb === 'clippy' && has('--fix')))
    reader.write(shell, '.', `cargo ${verb}`, { tree: true, entry: true });
  else if (verb === 'add' || verb === 'remove' || verb === 'rm' || verb === 'update' || verb === 'upgrade') {
    for (const file of ['Cargo.toml', 'Cargo.lock']) reader.write(shell, file, `cargo ${verb}`);
  } else if (verb === 'generate-lockfile') {
    reader.write(shell, 'Cargo.lock', 'cargo generate-lockfile');
  } else if (verb === 'new' || verb === 'init') {
    const path = rest.find((arg) => !isText(arg) || !arg.startsWith('-'));
    reader.write(shell, path ?? '.', `cargo ${verb}`, { tree: true });
  }
  if (verb === 'sqlx') reader.runWords(['sqlx', ...rest], shell, call.stdin, 'program');
  const paths = readOptions(rest, CARGO_PATHS).operands;
  if (verb === 'vendor') reader.write(shell, paths[0] ?? 'vendor', 'cargo vendor', { tree: true });
  if (verb === 'machete' && has('--fix'))
    for (const path of paths.length === 0 ? ['.'] : paths)
      reader.write(shell, path, 'cargo machete --fix', { tree: true, entry: true });
  const [sub] = verb === 'insta' ? readOptions(rest).operands : [verb];
  const isKept = INSTA_KEEPS.has(`${sub}`) && verb === 'insta';
  const isTest = CARGO_TESTS.has(`${sub}`) && (isToldToUpdate(call) || has(...INSTA_ACCEPTS));
  if (isKept || isTest) updateAll(call, `cargo ${verb} that updates snapshots`, ['Cargo.lock']);
  return undefined;
};

const CARGO_PATHS: OptionsSpec = {
  short: ['s', 'Z'],
  long: 'sync= manifest-path= config= color= skip-target-dir'.split(' '),
};

const CARGO_TESTS: ReadonlySet<string> = new Set(['test', 't', 'nextest', 'llvm-cov', 'tarpaulin']);
/** Verbs of `cargo insta` that write or take away what waits to be kept. */
const INSTA_KEEPS: ReadonlySet<string> = new Set(['accept', 'approve', 'review', 'verify', 'reject']);
const INSTA_ACCEPTS = ['--accept', '--accept-unseen', '--review', '--force-update-snapshots', '--force-update-all'];

/** Writes where the generators of a schema say, beside which such a path begins. */
function generate({ reader, shell }: Call, given: Field | undefined): void {
  const schemas = given === undefined ? ['prisma/schema.prisma', 'schema.prisma'] : [given];
  const schema = schemas.find((one) => isText(one) && reader.kindAt(shell, one) === 'file');
  const [place, ...others] = isText(schema) ? (reader.places(shell, schema) ?? []) : [];
  if (place === undefined || others.length > 0) return;
  const text = reader.context.readText?.(place) ?? '';
  for (const [, block = ''] of text.matchAll(/^[ \t]*generator\s+\w+\s*\{([^}]*)\}/gm)) {
    const output = /^[ \t]*output\s*=\s*"([^"]+)"/m.exec(block)?.[1];
    if (output !== undefined) reader.write(shell, absolute(output, parentOf(place)), 'prisma generate', { tree: true });
  }
}

const prisma: Program = (call) => {
  const { reader, shell, args } = call;
  const [verb, what] = args;
  if (verb === 'migrate' && (what === 'dev' || what === 'diff' || what === 'reset'))
    reader.write(shell, 'prisma/migrations', 'prisma migrate', { tree: true });
  const isFormat = verb === 'format' && !args.includes('--check');
  if (isFormat) reader.write(shell, 'prisma/schema.prisma', 'prisma format');
  if (verb === 'init') reader.write(shell, 'prisma', 'prisma init', { tree: true });
  if (verb === 'db' && what === 'pull') reader.write(shell, 'prisma/schema.prisma', 'prisma db pull');
  const options = readOptions(args, { long: ['schema=', 'output=', 'name='], short: ['o'] });
  if (verb === 'generate') generate(call, options.last('schema'));
  for (const file of options.all('o', 'output')) reader.write(shell, file, 'prisma -o');
  if (options.has('schema') && ((verb === 'migrate' && what === 'dev') || isFormat || verb === 'db'))
    reader.unresolved('prisma writes beside a schema that is elsewhere');
  return undefined;
};

export const LANGUAGE_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['go', go],
  ['cargo', cargo],
  ['cargo-insta', (call) => cargo({ ...call, name: 'cargo', args: ['insta', ...call.args] })],
  ['prisma', prisma],
];
