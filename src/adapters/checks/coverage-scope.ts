// Which files a project wants its coverage to be about, as its own files and command lines say it.

import { join } from 'node:path';
import picomatch from 'picomatch';
import type { Scope, Scopes } from '../../domain/unreported.ts';
import { type Family, type Said, type Spoken, saidByPytest, spokenBy } from './coverage-commands.ts';
import { inside, readText } from './project.ts';
import type { Line } from './script-programs.ts';
import { readToml } from './toml.ts';

/** @param lines what was run to measure the coverage: only that, and the files it reads, say what it is about */
export async function scopesOf(root: string, lines: readonly Line[]): Promise<Scopes> {
  const manifest = json(readText(root, MANIFEST));
  const spoken = spokenBy(lines, (name) => texts(inside(manifest, 'scripts', name))[0] ?? null);
  const scripts = scopeOf([...spoken.javascript, ...scriptFiles(root, manifest, spoken)], globs);
  const python = scopeOf([...spoken.python, ...(await pythonFiles(root, spoken))], fileNames);
  return { javascript: scripts, typescript: scripts, python };
}

/** Of these the gate runs one where they are the project's own; which of them a package is asked for, nobody tells. */
const SCRIPTS = ['test:coverage', 'coverage', 'test'];

/** As `scopesOf`, of a package that leaves a report of its own; paths are those from the root. */
export async function partScopes(root: string, directory: string): Promise<Scopes> {
  const place = join(root, directory);
  const manifest = json(readText(place, MANIFEST));
  const own = SCRIPTS.filter((name) => inside(manifest, 'scripts', name) !== undefined);
  const scopes = await scopesOf(
    place,
    own.map((name) => ({ text: `npm run ${name}`, where: MANIFEST })),
  );
  const fromRoot = (scope: Scope): Scope => {
    if (scope.kind === 'unread') return { ...scope, where: `${directory}/${scope.where}` };
    if (scope.kind !== 'patterns') return scope;
    return { ...scope, covers: (path) => scope.covers(path.slice(directory.length + 1)) };
  };
  return Object.fromEntries(Object.entries(scopes).map(([language, scope]) => [language, fromRoot(scope)]));
}

type Matching = (patterns: readonly string[], isFor: 'include' | 'exclude') => (path: string) => boolean;

function scopeOf(said: readonly Said[], matching: Matching): Scope {
  if (said.some(({ namesAll }) => namesAll === true)) return { kind: 'report' };
  const include = said.flatMap((one) => one.include ?? []);
  const exclude = said.flatMap((one) => one.exclude ?? []);
  const isRead = (one: Said) =>
    one.isUnread !== true && parses(one.include, matching, 'include') && parses(one.exclude, matching, 'exclude');
  const unread = said.find((one) => !isRead(one));
  if (unread !== undefined) return { kind: 'unread', where: unread.where };
  if (include.length + exclude.length === 0) return { kind: 'open' };
  const [isIn, isOut] = [matching(include, 'include'), matching(exclude, 'exclude')];
  return { kind: 'patterns', covers: (path) => (include.length === 0 || isIn(path)) && !isOut(path) };
}

function parses(patterns: readonly string[] = [], matching: Matching, isFor: 'include' | 'exclude'): boolean {
  try {
    matching(patterns, isFor);
    return true;
  } catch {
    return false;
  }
}

/** As c8, nyc and Node read them: a directory means all that is below it, `!` takes back. The root itself is never left out. */
const globs: Matching = (patterns, isFor) => {
  const plain = patterns.map((one) => one.replace(/^(!?)\.\/+/, '$1').replace(/\/+$/, ''));
  const named = plain.flatMap((one) => (one !== '' && one !== '.' ? one : isFor === 'include' ? '**' : []));
  const of = (some: readonly string[]) =>
    picomatch(
      some.flatMap((one) => [one, `${one}/**`]),
      // Without it what makes no expression matches nothing, and says so to nobody.
      { dot: true, debug: true },
    );
  const back = named.flatMap((one) => (one.startsWith('!') && one.length > 1 ? one.slice(1) : []));
  const [isMeant, isBack] = [of(named.filter((one) => !one.startsWith('!'))), of(back)];
  return (path) => isMeant(path) && !isBack(path);
};

/** As coverage.py reads them, of which older versions let `*` run over directories: in doubt a file does not count. */
const fileNames: Matching = (patterns, isFor) => {
  const star = isFor === 'exclude' ? '.*' : '[^/]*';
  const expressions = patterns.map((one) => {
    const parts = one
      .replace(/^\.\//, '')
      .replace(/\/$/, '/**')
      .split(/(\*\*\/?|\*|\?)/);
    const read = parts.map((part) => {
      if (part.startsWith('**')) return '.*';
      if (part === '*') return star;
      return part === '?' ? '.' : part.replace(/[.+^${}()|[\]\\]/g, '\\$&');
    });
    const body = read.join('');
    return new RegExp(`^${one.startsWith('*/') ? `(?:.*/)?${body.slice(star.length + 1)}` : body}$`);
  });
  return (path) => expressions.some((one) => one.test(path));
};

function texts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

const MANIFEST = 'package.json';
const RC = ['.c8rc', '.c8rc.json', '.nycrc', '.nycrc.json'];

type Config = { readonly names: readonly string[]; readonly report?: RegExp; readonly unread: RegExp };

const ends = (names: readonly string[], all: readonly string[]) =>
  names.flatMap((name) => all.map((end) => `${name}.config.${end}`));

/** Programs, and other forms: whether they say something is all that is looked for. */
const CONFIGS: Readonly<Partial<Record<Family, Config>>> = {
  c8: {
    names: ['.nycrc.yml', '.nycrc.yaml', 'nyc.config.js', 'nyc.config.cjs'],
    report: /\ball\b["']?\s*:\s*true\b/,
    unread: /\b(?:in|ex)clude\b/,
  },
  jest: {
    names: ends(['jest'], ['js', 'cjs', 'mjs', 'ts', 'json']),
    report: /collectCoverageFrom/,
    unread: /coveragePathIgnorePatterns/,
  },
  vitest: {
    names: ends(['vitest', 'vite'], ['js', 'mjs', 'cjs', 'ts', 'mts']),
    unread: /\bcoverage\b[\s\S]*\b(?:in|ex)clude\b/,
  },
};
const CONFIGURED: readonly Family[] = ['c8', 'jest', 'vitest'];

/** What a program says without its comments; strings stay, whatever is in them. */
function withoutComments(text: string, name: string): string {
  if (/\.ya?ml$/.test(name)) return text.replace(/(^|\s)#.*$/gm, '$1');
  return text.replace(
    /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
    (_, kept?: string) => kept ?? ' ',
  );
}

/** What a file of such a program says, as far as words tell. */
function saidIn(text: string, where: string, family: Family): readonly Said[] {
  const said = withoutComments(text, where);
  const { report, unread } = CONFIGS[family] ?? {};
  return [{ where, namesAll: report?.test(said) === true, isUnread: unread?.test(said) === true }];
}

function scriptFiles(root: string, manifest: unknown, { javascript, runs }: Spoken): readonly Said[] {
  const rc = RC.flatMap((name) => {
    const text = readText(root, name);
    return text === null ? [] : wrapperWords(json(text), name);
  });
  const jest = inside(manifest, 'jest');
  const others = CONFIGURED.filter(runs).flatMap((family) =>
    (CONFIGS[family]?.names ?? []).flatMap((name) => saidIn(readText(root, name) ?? '', name, family)),
  );
  const given = javascript.flatMap(({ where, config }) => {
    if (config === undefined) return [];
    const text = readText(root, config.path);
    return text === null ? [{ where, isUnread: true }] : saidIn(text, config.path, config.family);
  });
  const wrappers = ['c8', 'nyc'].flatMap((name) => wrapperWords(inside(manifest, name), MANIFEST));
  const ofJest = {
    where: MANIFEST,
    namesAll: texts(inside(jest, 'collectCoverageFrom')).length > 0,
    isUnread: inside(jest, 'coveragePathIgnorePatterns') !== undefined,
  };
  return [...(runs('c8') ? [...wrappers, ...rc] : []), ...(runs('jest') ? [ofJest] : []), ...others, ...given];
}

/** Undefined: it is no JSON. */
function json(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function wrapperWords(value: unknown, where: string): readonly Said[] {
  if (value === null) return [];
  if (value === undefined) return where === MANIFEST ? [] : [{ where, isUnread: true }];
  if (inside(value, 'extends') !== undefined) return [{ where, isUnread: true }];
  const of = (key: string) => texts(inside(value, key));
  return [{ where, include: of('include'), exclude: of('exclude'), namesAll: inside(value, 'all') === true }];
}

type Sections = { readonly name: string; readonly of: (section: string, key: string) => readonly string[] };

/** @param toml what `pyproject.toml` says */
function pythonPlaces(root: string, toml: unknown): readonly Sections[] {
  return [
    { name: 'pyproject.toml', of: (section, key) => texts(inside(toml, 'tool', ...section.split('.'), key)) },
    ...['.coveragerc', 'setup.cfg', 'tox.ini', 'pytest.ini', '.pytest.ini'].map((name) => ({
      name,
      of: sectionsOf(readText(root, name) ?? ''),
    })),
  ];
}

/** Options that pytest is always given, as that place says. */
function addedOptions({ of }: Sections): string {
  return ['pytest.ini_options', 'tool:pytest', 'pytest'].flatMap((section) => of(section, 'addopts')).join(' ');
}

/** Whether pytest measures the coverage whoever runs it. */
export function measuresByItself(root: string, toml: unknown): boolean {
  return pythonPlaces(root, toml).some((place) => /(?:^|\s)--cov(?=[=\s]|$)/.test(addedOptions(place)));
}

async function pythonFiles(root: string, { runs }: Spoken): Promise<readonly Said[]> {
  const text = readText(root, 'pyproject.toml');
  const toml = text === null ? null : await readToml(text, 'pyproject.toml').catch(() => undefined);
  const own = pythonPlaces(root, toml).flatMap((place) => {
    const { name, of } = place;
    const prefix = { 'pyproject.toml': 'coverage.', '.coveragerc': '' }[name] ?? 'coverage:';
    const all = (...keys: readonly string[]) =>
      ['run', 'report'].flatMap((part) => keys.flatMap((key) => of(`${prefix}${part}`, key)));
    return [
      {
        where: name,
        include: all('include'),
        exclude: all('omit'),
        namesAll: all('source', 'source_pkgs', 'source_dirs').length > 0,
      },
      ...(runs('pytest') ? saidByPytest(addedOptions(place), name) : []),
    ];
  });
  const unread = toml === undefined ? [{ where: 'pyproject.toml', isUnread: true }] : [];
  return [...own, ...unread];
}

/** Of a file with `[section]` and `key = value`, whose further lines are indented; a list has commas or lines between its parts. */
function sectionsOf(text: string): Sections['of'] {
  const lists = new Map<string, string[]>();
  let [section, key] = ['', ''];
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*(?:[#;]|$)/.test(line)) continue;
    const head = /^\[([^\]]+)\]/.exec(line);
    const pair = /^([^\s=:][^=:]*?)\s*[=:]\s*(.*)$/.exec(line);
    if (head !== null) [section, key] = [head[1] ?? '', ''];
    else if (pair !== null) key = pair[1] ?? '';
    const value = head !== null ? '' : (pair?.[2] ?? (/^\s/.test(line) ? line : ''));
    const list = lists.get(`${section} ${key}`) ?? [];
    list.push(...value.split(',').map((part) => part.trim()));
    lists.set(`${section} ${key}`, list);
  }
  return (name, wanted) => (lists.get(`${name} ${wanted}`) ?? []).filter((part) => part !== '');
}
