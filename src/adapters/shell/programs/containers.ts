// Programs of containers: what they copy out of one, and what of this machine they let one write.

import { readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { behind } from './outputs.ts';

/** Options with a text before the verb. */
const GLOBAL = {
  short: [...'cHl'],
  long: 'config context host log-level tlscacert tlscert tlskey connection url identity root runroot'
    .split(' ')
    .map((name) => `${name}=`),
  isExact: true,
  stopsAtOperand: true,
};
const COMPOSE = {
  short: [...'fpHc'],
  long: 'file project-name profile env-file project-directory parallel ansi progress host context'
    .split(' ')
    .map((name) => `${name}=`),
  isExact: true,
  stopsAtOperand: true,
};
const OUTPUT = {
  short: [...'oftcm'],
  long: 'output file tag build-arg iidfile metadata-file'.split(' ').map((name) => `${name}=`),
  isExact: true,
};

/** What of this machine a container is given to write: `HOST:PLACE`, or `type=bind,source=HOST`. */
function mounted(call: Call, text: Field): void {
  const { reader, shell, name } = call;
  if (!isText(text)) {
    reader.unresolved(`${name} run is given a directory that is known only when it runs`);
    return;
  }
  const isBind = /(?:^|,)(?:source|src)=/.test(text);
  const host = isBind ? /(?:^|,)(?:source|src)=([^,]*)/.exec(text)?.[1] : /^([^:]*):\//.exec(text)?.[1];
  const options = isBind ? text.split(',') : (/^[^:]*:[^:]*:(.*)$/.exec(text)?.[1] ?? '').split(',');
  const isVolume = isBind ? /(?:^|,)type=volume(?:,|$)/.test(text) : !/^[.~]|\//.test(host ?? '');
  if (host === undefined || isVolume || options.some((one) => /^(?:ro|readonly(?:=true|=1)?)$/.test(one))) return;
  const hint = isBind ? 'with `,readonly` behind the mount' : 'with `:ro` behind the directory';
  reader.write(shell, host, `${name} run -v`, { tree: true, hint: `${hint} the container only reads it` });
}

function mounts(call: Call): void {
  const { args } = call;
  for (const [index, word] of args.entries()) {
    const lead = isText(word) ? word : word.lead;
    const attached = /^--(?:volume|mount)=/.exec(lead)?.[0];
    if (attached !== undefined) mounted(call, isText(word) ? word.slice(attached.length) : word);
    else if (/^(?:-[a-zA-Z]*v|--volume|--mount)$/.test(lead) && index + 1 < args.length)
      mounted(call, args[index + 1] ?? '');
  }
}

/** Where an output goes: a place alone, or among fields as in `type=local,dest=DIR`; undefined when not here. */
function placeOf(output: Field): Field | undefined {
  if (!isText(output)) return output;
  const place = output.replace(/^=/, '');
  const named = /(?:^|,)(?:dest|destination)=([^,]*)/.exec(place)?.[1];
  return named ?? (/(?:^|,)type=/.test(place) ? undefined : place);
}

function outputs(call: Call, verb: string): void {
  const options = readOptions(call.args, OUTPUT);
  for (const output of options.all('o', 'output', 'iidfile', 'metadata-file')) {
    const place = placeOf(output);
    if (place !== undefined && place !== '' && place !== '-')
      call.reader.write(call.shell, place, `${call.name} ${verb} -o`, { tree: true });
  }
}

/** What a verb does, which is the same for a container and for a service. */
function verbOf(call: Call, verb: string): undefined {
  if (/^(?:run|create)$/.test(verb)) mounts(call);
  else if (verb === 'cp') behind('cp')({ ...call, args: ['cp', ...call.args] });
  else if (/^(?:build|save|export|config|convert)$/.test(verb)) outputs(call, verb);
  return undefined;
}

const compose: Program = (call) => {
  const [verb, ...args] = readOptions(call.args, COMPOSE).operands;
  return isText(verb) ? verbOf({ ...call, args }, verb) : undefined;
};

const container: Program = (call) => {
  const [first, ...args] = readOptions(call.args, GLOBAL).operands;
  if (first === 'compose') return compose({ ...call, args });
  if (!isText(first)) return undefined;
  if (!/^(?:container|image|buildx|builder)$/.test(first))
    return first === 'config' ? undefined : verbOf({ ...call, args }, first);
  // `buildx` has an option with a text before its verb
  const [verb, ...rest] = readOptions(args, { long: ['builder='], isExact: true, stopsAtOperand: true }).operands;
  return isText(verb) ? verbOf({ ...call, args: rest }, verb) : undefined;
};

export const CONTAINER_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['docker', container],
  ['podman', container],
  ['docker-compose', compose],
  ['podman-compose', compose],
];
