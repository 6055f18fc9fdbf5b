// One rule per tool that makes a script of package.json leave a coverage report.

import { commandsIn } from '../commands-in.ts';
import { nameOf, programsOf, type Scripts } from './script-programs.ts';

type Rule = {
  /** Where the tool stands in the script; what is added comes behind it. */
  readonly place: RegExp;
  /** The script has a report made that can be read here. */
  readonly configured: RegExp;
  /** The script says itself where its report goes: said twice, nothing is understood. */
  readonly elsewhere?: RegExp;
  readonly flags: string;
  /** What the flags say too: said twice, the one takes the other back. */
  readonly own?: RegExp;
  /** What a person adds to see the coverage. */
  readonly plain: string;
  /** In `$TOOL_REPORTS`. */
  readonly report: string;
  readonly byNode?: true;
};

/** Reporters whose files can be read here. */
const READABLE = String.raw`["']?(?:lcov(?:only)?|json(?:-summary)?|cobertura)\b(?![./])`;
/** Words that an option has before it. */
const LISTED = `(?:["']?[a-z][a-z-]*["']?[, ])*?`;

const WRAPPED = '--reporter=lcovonly --reporter=text-summary --report-dir="$TOOL_REPORTS/wrapped"';

/** What is set for one command. */
const SET = String.raw`[A-Za-z_]\w*=(?:'[^']*'|"[^"]*"|[^\s'"])*`;
/** What reads files of variables for a program. */
const VARIABLES = String.raw`(?:dotenv|dotenvx run|env-cmd)(?: -\S+(?: [^-\s]\S*)?)*`;
/** What starts a program, and hands on to it what stands behind. */
const STARTER = String.raw`(?:npx(?: -\S+)*|bunx|pnpm(?: exec| run)?|yarn(?: run)?|npm (?:exec|x) --|(?:cross-)?env|${VARIABLES}|${SET}) +`;
/** The beginning of a command: of the script, behind `&&`, or behind what starts it. */
const START = String.raw`(?:^|&&|;|\|\||\b(?:npx(?: -\S+)*|cross-env|${SET}) )\s*(?:${STARTER})*`;
/** Node with options, of which some have a word behind them. */
const NODE = String.raw`node (?:(?:(?:-r|--require|--import|--(?:experimental-)?loader) \S+|-\S+) +)*`;

/** A program at the beginning of a command, by its name or where it is installed. */
function program(name: string): string {
  return String.raw`${START}(?:(?:${NODE})?[\w@./-]*node_modules/(?:[\w@.-]+/)+)?${name}(?:\.[cm]?js)?`;
}

const RULES: readonly Rule[] = [
  {
    place: new RegExp(`${program('(?:c8|nyc)')}(?= (?!report\\b|merge\\b|check-coverage\\b))`),
    configured: new RegExp(` (?:--reporter|-r)[= ]${READABLE}`),
    elsewhere: / (?:--reports?-dir|-o)[= ]\S+/g,
    flags: WRAPPED,
    plain: '',
    report: 'wrapped/lcov.info',
  },
  {
    place: new RegExp(`${START}(?:node|tsx)(?= (?:[^&|;]* )?--test(?: |$))`),
    configured: /--test-reporter[= ]lcov\b/,
    flags:
      '--experimental-test-coverage --test-reporter=spec --test-reporter-destination=stdout' +
      ' --test-reporter=lcov --test-reporter-destination="$TOOL_REPORTS/lcov.info"',
    own: / --test-reporter(?:-destination)?[= ]\S+| --experimental-test-coverage(?= |$)/g,
    plain: '--experimental-test-coverage',
    report: 'lcov.info',
    byNode: true,
  },
  {
    place: new RegExp(`${program('vitest')}(?: run)?(?= |$)`),
    configured: new RegExp(` --coverage\\.reporter[= ]${READABLE}`),
    elsewhere: / --coverage\.reportsDirectory[= ]\S+/g,
    flags:
      '--coverage.enabled --coverage.reportOnFailure --coverage.reporter=lcovonly --coverage.reporter=text-summary' +
      ' --coverage.reportsDirectory="$TOOL_REPORTS/vitest"',
    own: / --(?:no-)?coverage(?:\.enabled)?(?:[= ](?:true|false))?(?= |$)/g,
    plain: '--coverage',
    report: 'vitest/lcov.info',
  },
  {
    place: new RegExp(`(?:${program('jest')}|${program('react-scripts')} test)(?= |$)`),
    configured: new RegExp(` --coverage(?:R|-r)eporters[= ]${LISTED}${READABLE}`),
    elsewhere: / --coverage(?:D|-d)irectory[= ]\S+/g,
    flags:
      '--coverage --coverageReporters=lcovonly --coverageReporters=text-summary' +
      ' --coverageDirectory="$TOOL_REPORTS/jest"',
    own: / --(?:no-)?(?:c|collectC)overage(?:[= ](?:true|false))?(?= |$)/g,
    plain: '--coverage',
    report: 'jest/lcov.info',
  },
];

function namesRunner(script: string): boolean {
  return RULES.some(({ place }) => place.test(script));
}

const STEPS = /\s*&&\s*/;
const CALL = /^(?:(npm|pnpm|yarn|bun) )(run |run-script )?(?:(?:-s|--silent) )*([\w:.-]+)(?: (-- )?([^|;&<>]*))?$/;
/** Scripts that call scripts go no deeper. */
const DEEPEST = 5;

/** What a shell does to itself; a variable set alone is such a thing as well. */
const OF_SHELL = /^(?:cd|pushd|popd|export|set|unset|umask|source|\.|)$/;

/** A script has a shell of its own: what stands beside it is left where and as it was. */
function apart(script: string): string {
  return commandsIn(script).some((words) => OF_SHELL.test(nameOf(words))) ? `( ${script} )` : script;
}

/** The script with what stands behind its only call that comes to a known runner; as it is where there is none, or are several. */
export function followed(script: string, scripts: Scripts, depth = 0): string {
  if (depth > DEEPEST || namesRunner(script) || /\|\||;|\||"[^"]*&&|'[^']*&&/.test(script)) return script;
  const steps = script.split(STEPS).map((step, _, all) => {
    const [, manager, run, name = '', handed, more = ''] = CALL.exec(step.trim()) ?? [];
    const own = manager === 'npm' && run === undefined && name !== 'test' ? null : scripts(name);
    // Of options that npm keeps for itself some name other packages.
    if (own === null || (manager === 'npm' && more !== '' && handed === undefined)) return step;
    // What is handed on is for a program, not for the shell around it.
    const whole = followed(own, scripts, depth + 1).replace(/(?: \))*$/, (end) =>
      more === '' ? end : ` ${more}${end}`,
    );
    const text = [scripts(`pre${name}`), whole, scripts(`post${name}`)];
    const parts = text.filter((part) => part !== null);
    const chain = parts.map((part) => (all.length + parts.length > 2 ? apart(part) : part)).join(' && ');
    // What stands on both sides of another operator is no step of one chain.
    return namesRunner(chain) && !/\|\||;|\|/.test(chain) ? chain : step;
  });
  return steps.filter(namesRunner).length === 1 ? steps.join(' && ') : script;
}

export type Reporting = {
  readonly script: string;
  /** What a person types to see the coverage. */
  readonly command: string;
  readonly report: string | null;
  readonly byNode?: boolean;
};

const NEVER = /(?!)/;

/** What the script may come to, and what is run behind it. */
type Behind = { readonly scripts: Scripts; readonly after: string };
const NOTHING: Behind = { scripts: () => null, after: '' };

/** Where c8 looks for what it has counted, when a later step has it make a report; null: none does. */
function keptIn(script: string, scripts: Scripts): string | null {
  const later = programsOf({ text: script, where: '' }, scripts).find(
    ({ words }) => nameOf(words) === 'c8' && ['report', 'check-coverage'].includes(words[1]?.text ?? ''),
  );
  if (later === undefined) return null;
  const words = later.words.map(({ text }) => text).join(' ');
  const [, own] = / --temp-directory[= ](\S+)/.exec(words) ?? [];
  const [, beside = 'coverage'] = / (?:--reports?-dir|-o)[= ](\S+)/.exec(words) ?? [];
  return own ?? `${beside}/tmp`;
}

/** What is read behind it has to be as it was. */
function flagsFor({ flags }: Rule, script: string, { scripts, after }: Behind): string {
  // Between its parts c8 keeps what it has counted beside the report.
  const isOwn = flags !== WRAPPED || / --temp-directory\b/.test(script);
  const kept = isOwn ? null : keptIn(`${script}\n${after}`, scripts);
  if (kept !== null) return `${flags} --temp-directory=${kept}`;
  return /[^|]\|[^|]/.test(script) ? flags.replace('--test-reporter=spec', '--test-reporter=tap') : flags;
}

const TYPED = new RegExp(`^((?:${SET} +)*)(?=(?:c8|nyc|vitest|jest|react-scripts|tsx|cross-env|dotenvx?|env-cmd) )`);

/** A tool of the project's own, from a person's shell. */
function typed(script: string): string {
  return script.replace(TYPED, '$1npx ');
}

/**
 * The script so that it leaves a report; null when none of its tools is known.
 * @param run how the package manager runs it
 */
export function reporting(
  script: string,
  run: string,
  packages: readonly string[],
  behind: Behind = NOTHING,
): Reporting | null {
  const rule = RULES.find(({ place }) => place.test(script));
  if (rule !== undefined) {
    const { elsewhere = NEVER, own = NEVER } = rule;
    const plain = script.replace(elsewhere, '');
    // In a usual place it is found.
    if (rule.configured.test(script) && plain === script) return { script, command: run, report: null };
    return {
      script: plain.replace(own, '').replace(rule.place, (start) => `${start} ${flagsFor(rule, plain, behind)}`),
      command:
        rule.plain === ''
          ? run
          : typed(plain.replace(own, '').replace(rule.place, (start) => `${start} ${rule.plain}`)),
      report: rule.report,
      byNode: rule.byNode === true,
    };
  }
  const wrapper = ['c8', 'nyc'].find((name) => packages.includes(name));
  if (wrapper === undefined) return null;
  return {
    script: `${wrapper} ${WRAPPED} sh -c ${quoted(script)}`,
    command: `npx ${wrapper} ${run}`,
    report: 'wrapped/lcov.info',
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const COVERAGE_FLAGS =
  / --(?:no-)?coverage(?:\.\w+|[A-Z]\w+)?(?:=\S+)?| --(?:experimental-test-coverage|enable-source-maps)(?= |$)| --test-coverage-\S+| --test-reporter(?:-destination)?[= ]\S+/g;
const WRAPPER = /(^|&& ?|npx )(?:c8|nyc)(?: -{1,2}[\w-]+(?:=\S+| [^-\s]\S*(?= -))?)* /g;

/** Whether one script runs the tests of the other one and measures more. */
export function runsSameTests(coverage: string, tests: string): boolean {
  const plain = (script: string) =>
    script.replace(WRAPPER, '$1').replace(COVERAGE_FLAGS, '').replaceAll(/\s+/g, ' ').trim();
  return (
    /^(npm|pnpm|yarn|bun run|npm run|pnpm run|yarn run) test$/.test(plain(coverage)) || plain(coverage) === plain(tests)
  );
}
