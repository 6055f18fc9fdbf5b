// Line coverage of src by the test processes and all processes that they start.
// V8 writes the counters (NODE_V8_COVERAGE); source maps translate compiled code to source lines.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import coverage, { type CoverageReportOptions } from 'monocart-coverage-reports';

/** Folders of compiled scripts: the tests, and the program. */
const FOLDERS = ['.cache', 'dist'] as const;
type Folder = (typeof FOLDERS)[number];

/** A file of V8's counters, as far as it is read here. */
type Written = { readonly result: readonly { readonly url: string }[]; readonly 'source-map-cache': unknown };

/** Whether each line of a source was reached, by line number. */
type Lines = Map<number, boolean>;

/** Lines that earlier runs reached, by source; valid while the hash in `text` matches the source. */
type Earlier = Readonly<Record<string, { readonly text: string; readonly reached: readonly number[] }>>;

/**
 * Prints the line coverage of the processes with counters in this directory, together with that of earlier runs.
 * @param least share of the lines that must be reached, in per cent
 * @returns whether it was enough
 */
export async function reportCoverage(root: string, counters: string, least: number): Promise<boolean> {
  const byFolder = sortCounters(root, counters);
  const kept = join(root, '.cache', 'coverage.json');
  const earlier: Earlier = existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : {};
  // Merged by line: the compiled tests and dist/ may reach different parts of one line.
  const inTests = await linesReached(root, byFolder, '.cache');
  const inCommands = await linesReached(root, byFolder, 'dist');
  const files = sources(root).map((file) => {
    const lines: Lines = new Map(inTests.get(file));
    for (const [line, reached] of inCommands.get(file) ?? []) lines.set(line, reached || lines.get(line) === true);
    const text = createHash('sha256')
      .update(readFileSync(join(root, file)))
      .digest('hex');
    if (earlier[file]?.text === text) for (const line of earlier[file].reached) lines.set(line, true);
    const reached = [...lines].filter(([, is]) => is).map(([line]) => line);
    return { file, all: lines.size, text, lines: reached, reached: reached.length };
  });
  writeFileSync(
    kept,
    JSON.stringify(Object.fromEntries(files.map(({ file, text, lines }) => [file, { text, reached: lines }]))),
  );
  const all = files.reduce((sum, file) => sum + file.all, 0);
  const reached = files.reduce((sum, file) => sum + file.reached, 0);
  const missing = files
    .filter((file) => file.reached < file.all)
    .sort((a, b) => b.all - b.reached - (a.all - a.reached));
  const rows = missing
    .slice(0, Number(process.env.COVERAGE_ROWS ?? 10))
    .map((file) => `  ${String(file.all - file.reached).padStart(4)} of ${file.all} lines not reached in ${file.file}`);
  const pct = (100 * reached) / all;
  process.stdout.write(
    `coverage of src: ${pct.toFixed(1)} % of the lines (${reached} of ${all} in ${files.length} files)\n${rows.join('\n')}\n`,
  );
  if (pct >= least) return true;
  process.stderr.write(`coverage: at least ${least} % of the lines expected\n`);
  return false;
}

/** @param folder of the compiled files that count; a source in none of them counts as not reached */
async function linesReached(root: string, counters: string, folder: Folder): Promise<Map<string, Lines>> {
  const dataDir = join(counters, folder);
  if (readdirSync(dataDir).length === 0) return new Map();
  const outputDir = mkdtempSync(`${counters}-`);
  const report = coverage({
    baseDir: root,
    outputDir,
    reports: ['v8-json'],
    dataDir,
    // Scripts of dist/ do not name their maps.
    onEntry: (entry) => {
      if (folder === 'dist') entry.source += `\n//# sourceMappingURL=${basename(entry.url)}.map\n`;
    },
    sourceFilter: (path) => path.startsWith('src/'),
    // Once is enough for the lines of sources that nothing reached.
    ...(folder === 'dist' ? {} : { all: unreached(root) }),
    logging: 'error',
  });
  const { files = [] } = (await report.generate()) ?? {};
  rmSync(outputDir, { recursive: true });
  return new Map(
    files.map((file) => [
      file.sourcePath,
      // "2/3": reached in part; 0: not reached.
      new Map(Object.entries(file.data?.lines ?? {}).map(([line, hits]) => [Number(line), hits !== 0])),
    ]),
  );
}

function unreached(root: string): NonNullable<CoverageReportOptions['all']> {
  return {
    dir: [join(root, 'src')],
    filter: (path) => path.endsWith('.ts'),
    transformer: async (entry) => {
      const made = transformSync(entry.source, { loader: 'ts', sourcemap: 'external', sourcefile: entry.url });
      entry.source = made.code;
      entry.sourceMap = JSON.parse(made.map);
    },
  };
}

function sources(root: string): string[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join('src', file))
    .sort();
}

/** False for chunks that consist of dependencies only. */
function holdsSources(path: string): boolean {
  if (!existsSync(`${path}.map`)) return false;
  const map = JSON.parse(readFileSync(`${path}.map`, 'utf8')) as { sources: string[] };
  return map.sources.some((source) => /^(\.\.\/)+src\//.test(source));
}

/**
 * Puts the counters of the scripts that hold sources into one directory for each folder: other scripts are most of what V8 writes.
 * @returns the directory of these directories
 */
function sortCounters(root: string, counters: string): string {
  const sorted = mkdtempSync(join(tmpdir(), 'toolcrew-coverage-sorted-'));
  process.once('exit', () => rmSync(sorted, { recursive: true, force: true }));
  const counting = new Map<string, boolean>();
  const counts = (url: string) => {
    const is = counting.get(url) ?? holdsSources(fileURLToPath(url));
    counting.set(url, is);
    return is;
  };
  for (const folder of FOLDERS) mkdirSync(join(sorted, folder));
  for (const name of readdirSync(counters)) {
    const written = read(join(counters, name));
    for (const folder of FOLDERS) {
      const within = pathToFileURL(join(root, folder, '/')).href;
      const result = written.result.filter(({ url }) => url.startsWith(within) && counts(url));
      if (result.length === 0) continue;
      const maps = folder === 'dist' ? {} : { 'source-map-cache': written['source-map-cache'] };
      writeFileSync(join(sorted, folder, name), JSON.stringify({ result, ...maps }));
    }
  }
  return sorted;
}

/** No scripts for a truncated file: a process that is killed while it writes leaves one, and its coverage is not counted. */
function read(path: string): Written {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { result: [], 'source-map-cache': {} };
  }
}
