// Programs that nothing is known of: options that mean the same nearly everywhere are believed, the rest is not read.

import { type Options, readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { writeBelow } from './formatters.ts';

/** Options whose text is a path that is written, without hyphens and capitals. */
const OUTPUTS: ReadonlySet<string> = new Set(
  (
    'o out output outfile outdir outputfile outputdir outputdirectory outputpath destination reportdir reportsdir reportdirectory ' +
    'reportsdirectory ' +
    'reportfile coveragedir coveragedirectory junitxml htmlreport resultfile basetemp'
  ).split(' '),
);

/** Those whose text is a directory, also where it is a plain word. */
const DIRECTORIES: ReadonlySet<string> = new Set(
  'outdir outputdir outputdirectory reportdir reportsdir reportdirectory reportsdirectory coveragedir coveragedirectory'.split(
    ' ',
  ),
);

/** Options by which files are changed in their place. */
const FIXES = ['fix', 'write', 'in-place', 'inplace', 'autofix', 'auto-fix'];

/** Options by which what is found is written as what is expected, without hyphens and capitals. */
const SNAPSHOTS: ReadonlySet<string> = new Set(
  'updatesnapshot updatesnapshots snapshotupdate updategolden updategoldens updatevisualsnapshots'.split(' '),
);

const LONG = /^--([A-Za-z][\w-]*)(?:=(.*))?$/s;

/** To these `-o` is something else. */
const OTHERS: ReadonlySet<string> = new Set(
  'ls ps rg ag ack zgrep rgrep pcregrep pcre2grep column pytest py.test mount jest react-scripts nm od strings'.split(
    ' ',
  ),
);

export const unknownProgram: Program = (call) => {
  const { args, reader, shell, name } = call;
  const snapshots = args.find((arg) => {
    const [, option = '', text] = (isText(arg) && LONG.exec(arg)) || [];
    return SNAPSHOTS.has(option.replaceAll('-', '').toLowerCase()) && text !== 'false' && text !== 'none';
  });
  if (snapshots !== undefined) reader.write(shell, '.', `${name} ${snapshots}`, { tree: true, entry: true });
  runBehind(call);
  return outputProgram(call);
};

/** What stands behind a lone `--` may be a program that it runs: what that surely writes is told. */
function runBehind({ args, reader, shell, name }: Call): void {
  const at = args.indexOf('--');
  const words = args.slice(at + 1);
  const [first] = words;
  if (at === -1 || first === undefined || !isText(first) || first.startsWith('-')) return;
  if (OTHERS.has(name) || FAR.has(name) || first === 'create' || (BUILDING.has(name) && args[0] === 'run')) return;
  for (const write of reader.tried('"$@"', { ...shell, positional: words }).writes) {
    const { path, by, tree, directory = false, how } = write;
    if (write.script !== undefined) reader.wroteAsScript(write);
    else reader.write(shell, path, `${name} -- ${by}`, { tree, directory, renews: how === 'renewed' });
  }
}

/** Their `run` runs what the project makes: the words behind are given to that. */
const BUILDING: ReadonlySet<string> = new Set('swift stack cabal bazel bazelisk flutter lein dub fpm'.split(' '));

/** They run it on another machine. */
const FAR: ReadonlySet<string> = new Set(
  'oc lxc incus multipass vagrant heroku fly flyctl gcloud az adb mosh crictl minikube tsh doctl limactl colima'.split(
    ' ',
  ),
);

/** Only files that it names as its outputs, or changes in their place. */
export const outputProgram: Program = (call) => {
  const { args, reader, shell, name } = call;
  for (const [index, arg] of args.entries()) {
    const [, option = '', , attached] = (isText(arg) && /^--?([A-Za-z][\w.-]*)(=(.*))?$/s.exec(arg)) || [];
    const text = attached ?? args[index + 1];
    // of `--coverage.reportsDirectory` and `--outputFile.json` either half may say it
    const halves = option.replaceAll('-', '').toLowerCase().split('.');
    const isOutput = halves.some((half) => OUTPUTS.has(half)) && !(option === 'o' && OTHERS.has(name));
    const isDirectory = (path: Field) =>
      isText(path) && halves.some((half) => DIRECTORIES.has(half)) && reader.kindAt(shell, path) === 'directory';
    if (isOutput && text !== undefined && (isPath(text) || isDirectory(text)))
      reader.write(shell, text, `${name} ${arg}`, { tree: true });
  }
  const options = readOptions(args);
  if (isFixing(options)) {
    const files = options.operands.filter((one) => isText(one) && (/[/*]/.test(one) || isThere(one, call)));
    for (const file of files.length === 0 ? ['.'] : files) writeBelow(call, file);
  }
  return undefined;
};

/** `--no-fix` and `--fix=false` are other options. */
function isFixing(options: Options): boolean {
  return options.all(...FIXES).some((text) => text === '' || text === 'true');
}

/** A format, as in `--output json`, is none. */
function isPath(text: Field): boolean {
  return isText(text) && /^(?!-)(?!.*:\/\/)[^=:,{]*(?:\/|\.[A-Za-z]\w*$)[^=:,{]*$/s.test(text);
}

function isThere(path: string, { reader, shell }: Call): boolean {
  return reader.kindAt(shell, path) !== 'none';
}
