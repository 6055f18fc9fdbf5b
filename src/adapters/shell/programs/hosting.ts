// gh: what it fetches, and the branches that it checks out.

import { isOn, readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';

const SPEC = {
  short: [...'RDOpnubA'],
  long: 'repo dir output pattern name base branch branch-repo archive upstream-remote-name'
    .split(' ')
    .map((name) => `${name}=`),
  isExact: true,
};

function write({ reader, shell }: Call, path: Field, by: string): void {
  // the text may be attached with a sign between
  const place = isText(path) ? path.replace(/^=/, '') : path;
  if (place !== '-') reader.write(shell, place, by, { tree: true, link: true, entry: place === '.' });
}

/** Where what is fetched comes to lie when no place is named. */
function directoryOf(named: Field): Field {
  return isText(named)
    ? named
        .replace(/\/+$/, '')
        .replace(/^.*[/:]/s, '')
        .replace(/\.git$/, '')
    : named;
}

export const gh: Program = (call) => {
  const end = call.args.indexOf('--');
  const options = readOptions(end === -1 ? call.args : call.args.slice(0, end), SPEC);
  if (isOn(options, 'help')) return undefined;
  const [group, verb, named, place] = options.operands;
  const words = `${isText(group) ? group : ''} ${isText(verb) ? verb : ''}`;
  if (/^(?:co |pr checkout$)/.test(words) || (words === 'issue develop' && isOn(options, 'checkout', 'c')))
    call.reader.runWords(['git', 'checkout', '--detach', 'FETCH_HEAD'], call.shell, call.stdin, 'program');
  else if (/^(?:run|release) download$/.test(words))
    write(call, options.last('O', 'output') ?? options.last('D', 'dir') ?? '.', `gh ${words}`);
  else if (/^(?:repo|gist) clone$/.test(words) && named !== undefined)
    write(call, place ?? directoryOf(named), `gh ${words}`);
  else if (/^repo (?:fork|create)$/.test(words) && named !== undefined && isOn(options, 'clone'))
    write(call, directoryOf(named), `gh ${words} --clone`);
  // of one that is named, only what the service holds is renewed
  else if (words === 'repo sync' && named === undefined)
    call.reader.runWords(['git', 'pull'], call.shell, call.stdin, 'program');
  return undefined;
};
