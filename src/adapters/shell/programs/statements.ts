// Clients of databases: statements that are known and name no file are the server's business.

import { type OptionsSpec, readOptions } from '../options.ts';
import type { Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { checkOptions } from './files.ts';

type Client = {
  readonly spec: OptionsSpec;
  readonly statements: readonly string[];
  /** Options that name a file of statements, which is run unread as a script is. */
  readonly scripts: readonly string[];
  readonly outputs: readonly string[];
  /** What in a statement reads, writes or runs something of this machine. */
  readonly isOwn: RegExp;
};

const PSQL: Client = {
  spec: {
    short: [...'cdfhLoPpRTUvF'],
    long: ['command=', 'dbname=', 'file=', 'host=', 'log-file=', 'output=', 'port=', 'username=', 'set=', 'variable='],
  },
  statements: ['c', 'command'],
  scripts: ['f', 'file'],
  outputs: ['o', 'output', 'L', 'log-file'],
  // a description, as `\\dt`, is the one command of its own that is harmless
  isOwn: /\\(?!(?:d\w*\+?|l\+?|conninfo|timing)(?:\s|$))|\bcopy\b|\blo_export\b/i,
};

const MYSQL: Client = {
  spec: {
    short: [...'eDhPSu', 'p?'],
    long: ['execute=', 'database=', 'host=', 'port=', 'user=', 'tee=', 'init-command='],
  },
  statements: ['e', 'execute'],
  scripts: [],
  outputs: ['tee'],
  isOwn: /\\|\binto\s+(?:out|dump)file\b|\b(?:tee|system|source|pager|edit)\b/i,
};

function client({ spec, statements, scripts, outputs, isOwn }: Client): Program {
  return (call) => {
    const { reader, shell, name, stdin, args } = call;
    if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) return undefined;
    const options = readOptions(args, { ...spec, isExact: true });
    // an address in quotes is one, whatever it is
    if (options.operands.some((one) => !isText(one) && one.many)) checkOptions(call, options);
    for (const file of options.all(...outputs)) reader.write(shell, file, name);
    const files = options.all(...scripts);
    for (const file of files) reader.executed(shell, file, name);
    const given: readonly Field[] = options.all(...statements);
    const isAsked = given.length > 0 || files.length > 0 || options.has('l', 'list');
    const texts = isAsked ? given : stdin.kind === 'text' ? [stdin.text] : null;
    if (texts === null || !texts.every((text) => isText(text) && !isOwn.test(text)) || files.includes('-'))
      reader.unresolved(`${name}: what its statements write is not known before they run`);
    return undefined;
  };
}

export const STATEMENT_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['psql', client(PSQL)],
  ['mysql', client(MYSQL)],
  ['mariadb', client(MYSQL)],
];
