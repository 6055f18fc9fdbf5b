// Which files a project wants its coverage to be about, as its own files and command lines say it.

import picomatch from 'picomatch';
import type { Scope, Scopes } from '../../domain/unreported.ts';
import { inside, readText } from './project.ts';
import { readToml } from './toml.ts';

/** Words of one place: patterns, that the report names all that counts, or what cannot be read from outside. */
type Said = {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly namesAll?: boolean;
  readonly unread?: string;
};

/** @param commands the commands for tests and coverage that were given in place of the project's own */
export async function scopesOf(root: string, commands: readonly string[]): Promise<Scopes> {
  const scripts = scopeOf(scriptWords(root, commands), globs);
  const python = scopeOf(await pythonWords(root, commands), fileNames);
  return { javascript: scripts, typescript: scripts, python };
}

type Matching = (patterns: readonly string[], isFor: 'include' | 'exclude') => (path: string) => boolean;

function scopeOf(said: readonly Said[], matching: Matching): Scope {
  if (said.some(({ namesAll }) => namesAll === true)) return { kind: 'report' };
  const unread = said.find((one) => one.unread !== undefined)?.unread;
  if (unread !== undefined) return { kind: 'unread', where: unread };
  const include = said.flatMap((one) => one.include ?? []);
  const exclude = said.flatMap((one) => one.exclude ?? []);
  if (include.length + exclude.length === 0) return { kind: 'open' };
  const [isIn, isOut] = [matching(include, 'include'), matching(exclude, 'exclude')];
  return { kind: 'patterns', covers: (path) => (include.length === 0 || isIn(path)) && !isOut(path) };
}

/** As c8, nyc and Node read them: a directory means all that is below it, `!` takes back. */
const globs: Matching = (patterns) => {
  const plain = patterns.map((one) => one.replace(/^\.\//, '').replace(/\/$/, ''));
  const positive = plain.filter((one) => !one.startsWith('!'));
  return picomatch(
    positive.flatMap((one) => [one, `${one}/**`]),
    { dot: true },
  );
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

const FLAGS = /\s(--?[\w.-]+)(?:(?:=|\s+)('[^']*'|"[^"]*"|[^\s'"-]\S*))?/g;

/** A command's options with their values; what stands for itself has none. */
function optionsOf(command: string): readonly (readonly [string, string])[] {
  return [...command.matchAll(FLAGS)].map(([, name = '', value = '']) => [name, value.replace(/^(['"])(.*)\1$/, '$2')]);
}

function commandWords(line: string, where: string): readonly Said[] {
  return line.split(/&&|\|\||[;|\n]/).flatMap((command) => {
    const isWrapped = /(?:^|[\s/])(?:c8|nyc)\s/.test(command);
    return optionsOf(` ${command}`).map(([name, value]): Said => {
      switch (name) {
        case '-n':
        case '--include':
          return isWrapped ? { include: [value] } : {};
        case '-x':
        case '--exclude':
          return isWrapped ? { exclude: [value] } : {};
        case '--test-coverage-include':
          return { include: [value] };
        case '--test-coverage-exclude':
        case '--coverage.exclude':
          return { exclude: [value] };
        case '--all':
          return { namesAll: isWrapped };
        case '--coverage.include':
        case '--collectCoverageFrom':
        case '--cov':
        case '--source':
          return { namesAll: value !== '' };
        case '--coveragePathIgnorePatterns':
        case '--nycrc-path':
        case '--cov-config':
        case '--rcfile':
          return { unread: where };
        default:
          return {};
      }
    });
  });
}

const MANIFEST = 'package.json';
const JEST = ['js', 'cjs', 'mjs', 'ts', 'json'].map((end) => `jest.config.${end}`);
const RC = ['.c8rc', '.c8rc.json', '.nycrc', '.nycrc.json'];
/** Programs, and other forms: whether they say something is all that is looked for. */
const OTHERS: readonly (readonly [readonly string[], RegExp, Pick<Said, 'namesAll'>?])[] = [
  [['.nycrc.yml', '.nycrc.yaml', 'nyc.config.js', 'nyc.config.cjs'], /\b(?:in|ex)clude\b/],
  [JEST, /collectCoverageFrom/, { namesAll: true }],
  [JEST, /coveragePathIgnorePatterns/],
  [
    ['vitest', 'vite'].flatMap((name) => ['js', 'mjs', 'cjs', 'ts', 'mts'].map((end) => `${name}.config.${end}`)),
    /\bcoverage\b[\s\S]*\b(?:in|ex)clude\b/,
  ],
];

function scriptWords(root: string, commands: readonly string[]): readonly Said[] {
  const manifest = json(readText(root, MANIFEST));
  const scripts = inside(manifest, 'scripts');
  const lines = typeof scripts === 'object' && scripts !== null ? Object.values(scripts).flatMap(texts) : [];
  const rc = RC.flatMap((name) => {
    const text = readText(root, name);
    return text === null ? [] : wrapperWords(json(text), name);
  });
  const jest = inside(manifest, 'jest');
  const others = OTHERS.flatMap(([names, words, said]) =>
    names.filter((name) => words.test(readText(root, name) ?? '')).map((where): Said => said ?? { unread: where }),
  );
  return [
    ...[...lines, ...commands].flatMap((line) => commandWords(line, MANIFEST)),
    ...['c8', 'nyc'].flatMap((name) => wrapperWords(inside(manifest, name), MANIFEST)),
    ...rc,
    { namesAll: texts(inside(jest, 'collectCoverageFrom')).length > 0 },
    ...(inside(jest, 'coveragePathIgnorePatterns') === undefined ? [] : [{ unread: MANIFEST }]),
    ...others,
  ];
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
  if (value === undefined) return where === MANIFEST ? [] : [{ unread: where }];
  if (inside(value, 'extends') !== undefined) return [{ unread: where }];
  const of = (key: string) => texts(inside(value, key));
  return [{ include: of('include'), exclude: of('exclude'), namesAll: inside(value, 'all') === true }];
}

type Sections = { readonly name: string; readonly of: (section: string, key: string) => readonly string[] };

async function pythonWords(root: string, commands: readonly string[]): Promise<readonly Said[]> {
  const text = readText(root, 'pyproject.toml');
  const toml = text === null ? null : await readToml(text, 'pyproject.toml').catch(() => undefined);
  const places: readonly Sections[] = [
    { name: 'pyproject.toml', of: (section, key) => texts(inside(toml, 'tool', ...section.split('.'), key)) },
    ...['.coveragerc', 'setup.cfg', 'tox.ini', 'pytest.ini', '.pytest.ini'].map((name) => ({
      name,
      of: sectionsOf(readText(root, name) ?? ''),
    })),
  ];
  const own = places.flatMap(({ name, of }) => {
    const prefix = { 'pyproject.toml': 'coverage.', '.coveragerc': '' }[name] ?? 'coverage:';
    const all = (...keys: readonly string[]) =>
      ['run', 'report'].flatMap((part) => keys.flatMap((key) => of(`${prefix}${part}`, key)));
    const options = ['pytest.ini_options', 'tool:pytest', 'pytest'].flatMap((section) => of(section, 'addopts'));
    return [
      {
        include: all('include'),
        exclude: all('omit'),
        namesAll: all('source', 'source_pkgs', 'source_dirs').length > 0,
      },
      ...commandWords(options.join(' '), name),
    ];
  });
  const unread = toml === undefined ? [{ unread: 'pyproject.toml' }] : [];
  return [...own, ...unread, ...commands.flatMap((line) => commandWords(line, 'quality.commands'))];
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
