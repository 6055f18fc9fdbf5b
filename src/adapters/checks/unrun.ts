// Packages below the root whose own tests none of the commands runs. Whoever cannot be read is taken to run them all.

import { dirname, join } from 'node:path/posix';
import { isTestFile } from '../../domain/coverage.ts';
import type { QualitySettings, Unrun } from '../../domain/quality.ts';
import { trackedFiles } from '../git/tracked.ts';
import { readRegular } from '../own-file.ts';
import type { Testing } from './plan.ts';
import { inside, readText } from './project.ts';
import { nameOf, programsOf, type Words } from './script-programs.ts';
import { looksEverywhere, names, placeIn, readOf } from './test-places.ts';

const MANIFEST = /^(.+)\/(package\.json|go\.mod|pyproject\.toml|Cargo\.toml)$/;
/** Beside the program, or no work of the project's: their tests are nobody's concern here. */
const BESIDE =
  /(?:^|\/)(?:\.[^/]*|_?_?fixtures?_?_?|tests?|__tests__|testdata|examples?|templates?|samples?|demos?|playgrounds?|vendor|node_modules|third_party|docs?|website|e2e|cypress|playwright|bench(?:es|marks?)?)\//i;

const OF_SETTINGS = ['mocha', 'jasmine', 'tap'];
const SETTINGS = /^(?:\.mocharc(?:\.\w+)?|spec\/support\/jasmine\.m?js(?:on)?|\.taprc)$/;

const MAX_PACKAGES = 100;
const MAX_READ = 200;
const MAX_BYTES = 512 * 1024;

type Around = { readonly root: string; readonly files: readonly string[]; readonly programs: readonly Words[] };

function jsonOf(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/** Patterns of directories, as far as they say where these begin. */
function workspacesOf(root: string): readonly string[] {
  const listed = jsonOf(readText(root, 'package.json'));
  const values = [inside(listed, 'workspaces'), inside(listed, 'workspaces', 'packages')].flatMap((value) =>
    Array.isArray(value) ? value.map(String) : [],
  );
  const rows = [...(readText(root, 'pnpm-workspace.yaml') ?? '').matchAll(/^\s*-\s*["']?([^"'\s#]+)/gm)];
  return [...values, ...rows.map(([, pattern = '']) => pattern)].map((pattern) =>
    placeIn(pattern.replace(/[*{].*$/s, '')),
  );
}

type Kind = {
  readonly command: string;
  /** The root's own runner comes to its tests. */
  readonly isRun: (directory: string, around: Around) => boolean;
  readonly hasTests: (directory: string, below: readonly string[], around: Around) => boolean;
};

const KINDS: Readonly<Record<string, Kind>> = {
  'package.json': {
    command: 'npm test',
    // What is listed is taken to be run: by which words of which runner is more than can be read for sure.
    isRun: (directory, { root, files, programs }) =>
      workspacesOf(root).some((place) => `${directory}/`.startsWith(place === '' ? '' : `${place}/`)) ||
      programs.some((words) => looksEverywhere(words, files)),
    // What makes a new package gives it a script before there is any test.
    hasTests: (directory, below, { root }) => {
      if (!below.some((path) => /\.[cm]?[jt]sx?$/.test(path) && isTestFile(path))) return false;
      const script = inside(jsonOf(readText(root, join(directory, 'package.json'))), 'scripts', 'test');
      return typeof script === 'string' && !/no test specified|^\s*(?:echo\b[^&|;]*|exit 0|true|:)?\s*$/.test(script);
    },
  },
  'go.mod': {
    command: 'go test ./...',
    isRun: (directory, { root, programs }) =>
      (readText(root, 'go.work') ?? '')
        .split(/[\s()"]+/)
        .map(placeIn)
        .includes(directory) ||
      programs.some((words) => nameOf(words) === 'go' && words[1]?.text === 'test' && words.at(-1)?.text === 'work'),
    hasTests: (_, below) => below.some((path) => path.endsWith('_test.go')),
  },
  'pyproject.toml': {
    command: 'python3 -m pytest',
    isRun: (_, { programs }) =>
      programs.some((words) => ['pytest', 'py.test', 'unittest', 'coverage'].includes(nameOf(words))),
    hasTests: (_, below) => below.some((path) => /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path)),
  },
  'Cargo.toml': {
    command: 'cargo test',
    isRun: (_, { root }) => /^\s*\[workspace\b/m.test(readText(root, 'Cargo.toml') ?? ''),
    hasTests: (directory, below, { root }) => {
      const sources = below.filter((path) => path.endsWith('.rs'));
      return (
        sources.some((path) => path.startsWith(`${directory}/tests/`)) ||
        sources
          .slice(0, MAX_READ)
          .some((path) => /#\[(?:\w+::)?test\b/.test(readRegular(join(root, path), MAX_BYTES) ?? ''))
      );
    },
  },
};

export async function unrunTests(
  root: string,
  testing: readonly Testing[],
  { commands }: QualitySettings,
): Promise<readonly Unrun[]> {
  const ways = testing.flatMap(({ tests }) => tests.ways);
  if (commands.tests !== null || ways.length === 0) return [];
  const manifest = jsonOf(readText(root, 'package.json'));
  const scripts = (name: string) => {
    const script = inside(manifest, 'scripts', name);
    return typeof script === 'string' ? script : null;
  };
  const programs = ways
    .flatMap(({ script }) => programsOf({ text: script, where: '' }, scripts))
    .map(({ words }) => readOf(words));
  if (!programs.every((words) => words !== null)) return [];
  const files = await trackedFiles(root);
  // Where these look, their own settings may say.
  const isSet = files.some((path) => SETTINGS.test(path)) || inside(manifest, 'mocha') !== undefined;
  if (isSet && programs.some((words) => OF_SETTINGS.includes(nameOf(words)))) return [];
  const around = { root, files, programs };
  const own = ways.map(({ command }) => command).join(' && ');
  const found = files.flatMap((path) => {
    const [, directory = '', name = ''] = MANIFEST.exec(path) ?? [];
    const kind = KINDS[name];
    return kind === undefined || BESIDE.test(path) ? [] : [{ path, directory, name, kind }];
  });
  // What lies in another package of its kind is for that one to run.
  const outer = found.filter(({ path, name }) => {
    const isBelow = (one: (typeof found)[number]) =>
      one.name === name && path.startsWith(`${one.directory}/`) && one.path !== path;
    return !found.some(isBelow);
  });
  return outer.slice(0, MAX_PACKAGES).flatMap(({ path, directory, kind }) => {
    const below = files.filter((file) => file.startsWith(`${dirname(path)}/`));
    if (programs.some((words) => names(words, directory, below)) || kind.isRun(directory, around)) return [];
    if (!kind.hasTests(directory, below, around)) return [];
    return [{ manifest: path, like: `${own} && (cd ${directory} && ${kind.command})` }];
  });
}
