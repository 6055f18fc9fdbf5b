// Tools that build projects of other languages, with tasks that write sources or what a project needs.

import { type OptionsSpec, readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';

function isAsked({ args }: Call): boolean {
  return ['--help', '-h', '--version', '-?'].some((flag) => args.includes(flag));
}

function writeTree({ reader, shell }: Call, path: Field, by: string): void {
  reader.write(shell, path, by, { tree: true, entry: path === '.' });
}

/** Tasks after which any source below the directory may be another. */
function tasks(writing: RegExp, spec: OptionsSpec, directory: readonly string[] = []): Program {
  return (call) => {
    const options = readOptions(call.args, spec);
    const task = options.operands.find((one) => isText(one) && writing.test(one));
    if (task !== undefined && !isAsked(call))
      writeTree(call, options.last(...directory) ?? '.', `${call.name} ${isText(task) ? task : ''}`);
    return undefined;
  };
}

const gradle = tasks(
  /(?:^|:)(?:spotless\w*Apply|ktlint\w*Format|formatKotlin\w*|googleJavaFormat|rewriteRun|licenseFormat\w*|wrapper|init|versionCatalogUpdate)$/,
  { short: [...'xpbcIgPDM'], long: ['exclude-task=', 'project-dir=', 'build-file=', 'init-script=', 'console='] },
  ['p', 'project-dir'],
);

const maven = tasks(
  /(?:^|:)(?:spotless[\w-]*(?::[\d.]+)?:apply|(?:fmt|formatter|license)[\w-]*(?::[\d.]+)?:format|rewrite[\w-]*(?::[\d.]+)?:run\w*|versions[\w-]*(?::[\d.]+)?:(?:set|use-|update-|commit|revert)[\w-]*|release[\w-]*:(?:prepare|update-versions)|(?:sortpom|impsort)[\w-]*(?::[\d.]+)?:sort|archetype[\w-]*:(?:generate|create[\w-]*)|wrapper:wrapper)$/,
  { short: [...'fplPDsT'], long: ['file=', 'projects=', 'activate-profiles=', 'define=', 'settings='] },
);

const DOTNET: OptionsSpec = {
  short: [...'opncfrvs'],
  long: [
    ...'output output-dir project startup-project name configuration framework runtime verbosity context version source'
      .split(' ')
      .map((name) => `${name}=`),
    ...'severity diagnostics include exclude language package-directory namespace context-dir'
      .split(' ')
      .map((name) => `${name}=`),
  ],
};

/** The files of projects, that are changed where they are named. */
function isProjectFile(word: Field): boolean {
  return isText(word) && /\.(?:\w+proj|slnx?)$/.test(word);
}

/** What is needed is named in a file of the project, which may stand behind the verb. */
const dotnet: Program = (call) => {
  const { reader, shell } = call;
  const options = readOptions(call.args, DOTNET);
  const words = options.operands.filter((one) => !isProjectFile(one)).map((one) => (isText(one) ? one : ''));
  const [verb = '', what = '', which = ''] = words;
  // behind these stands what is to be referred to
  const [, second = ''] = options.operands;
  const projects = /^(?:package|reference)$/.test(verb) ? options.all('project') : [second].filter(isProjectFile);
  const by = `dotnet ${verb}`;
  if (isAsked(call)) return undefined;
  const isKept =
    /^(?:add|remove)$/.test(verb) ||
    (/^(?:package|reference|sln|solution)$/.test(verb) && /^(?:add|remove|update|migrate)$/.test(what));
  if (isKept) {
    for (const file of projects) reader.write(shell, file, by);
    if (projects.length === 0) writeTree(call, '.', by);
  } else if (verb === 'format' && !options.has('verify-no-changes')) {
    for (const place of options.all('include')) writeTree(call, place, by);
    if (!options.has('include')) writeTree(call, '.', by);
  } else if (
    verb === 'ef' &&
    /^(?:migrations (?:add|remove)|dbcontext (?:scaffold|optimize))$/.test(`${what} ${which}`)
  )
    writeTree(call, options.last('o', 'output-dir', 'p', 'project') ?? '.', `${by} ${what}`);
  else if (verb === 'new' && what !== '' && !/^(?:list|search|details|install|uninstall|update)$/.test(what))
    writeTree(call, options.last('o', 'output') ?? '.', by);
  else if (verb === 'tool' && /^(?:install|uninstall|update)$/.test(what) && !options.has('g', 'global', 'tool-path'))
    reader.write(shell, '.config/dotnet-tools.json', `${by} ${what}`);
  else if (verb !== 'ef') for (const place of options.all('o', 'output')) writeTree(call, place, `${by} -o`);
  return undefined;
};

/** The consoles of Laravel and Symfony, that `php` runs. */
const artisan = tasks(
  /^(?:make:.*|install:.*|ide-helper:.*|(?:vendor|stub|lang|config):publish|key:generate|schema:dump|importmap:(?:require|remove|update)|doctrine:migrations:(?:generate|diff))$/,
  {},
);

const named = (names: string, program: Program): readonly (readonly [string, Program])[] =>
  names.split(' ').map((name) => [name, program]);

export const BUILD_PROGRAMS: readonly (readonly [string, Program])[] = [
  ...named('gradle gradlew', gradle),
  ...named('mvn mvnw mvnd', maven),
  ['dotnet', dotnet],
  ['dotnet-ef', (call) => dotnet({ ...call, args: ['ef', ...call.args] })],
  ['artisan', artisan],
  ['console', artisan],
];
