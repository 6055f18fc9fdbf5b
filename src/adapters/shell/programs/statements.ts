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

/** Options of sqlite3 that say how it shows what it finds, and those of them that take a text. */
const SHOWING =
  'readonly safe bail batch header noheader echo csv json column line list table box markdown html tabs'.split(' ');
const SHOWN_BY = ['separator', 'nullvalue', 'newline'];
/** Commands of its own that tell something. */
const TELLING =
  /^\.(?:tables|schema|indexes|indices|databases|dbinfo|headers?|mode|width|separator|nullvalue|dump|show)\b/;
/** What a question may hold that writes a file, opens another, or runs something. */
const REACHING = /\b(?:into|attach|writefile|edit|load_extension|fts3_tokenizer|zipfile)\b/i;
const QUESTION =
  /^\s*(?:select|values|with|explain|pragma\s+(?:\w+\.)?(?:table_info|table_list|index_list|index_info|foreign_key_list|user_version|integrity_check)\s*(?:\([\w\s'"]*\))?\s*(?:;|$))/i;
const CHANGING = /\b(?:insert|update|delete|create|drop|alter|vacuum|reindex|analyze|begin|commit)\b/i;

/** Whether the statements surely only ask; what stands in quotes is not told apart. */
export function isAsking(text: string): boolean {
  const lines = text.split('\n');
  const isOwn = (line: string) => /^\s*\./.test(line);
  const statements = lines
    .filter((line) => !isOwn(line))
    .join('\n')
    .split(';');
  return (
    !REACHING.test(text) &&
    !CHANGING.test(text) &&
    lines.every((line) => !isOwn(line) || TELLING.test(line.trim())) &&
    statements.every((one) => one.trim() === '' || QUESTION.test(one))
  );
}

const sqlite: Program = (call) => {
  const { args, reader, shell, stdin } = call;
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-version')) return undefined;
  const options = readOptions(args, {
    singleDash: true,
    isExact: true,
    long: [...SHOWN_BY, 'cmd', 'init', 'vfs', 'nonce', 'maxsize', 'mmap'].map((name) => `${name}=`),
  });
  const names = [...options.given.keys()].map((name) => name.replace(/^-/, ''));
  const [file, ...given] = options.operands;
  const texts = given.length > 0 ? given : stdin.kind === 'text' ? [stdin.text] : [];
  const isKnown = names.every((name) => SHOWING.includes(name) || SHOWN_BY.includes(name)) && !options.isUncertain;
  if (!isKnown || texts.length === 0 || !texts.every((text) => isText(text) && isAsking(text)))
    reader.unresolved('sqlite3: what its statements write is not known before they run');
  // also a question makes a file that is not there, and may take up what was left in one that is
  if (file !== undefined && file !== ':memory:' && !names.includes('readonly')) reader.write(shell, file, 'sqlite3');
  return undefined;
};

export const STATEMENT_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['sqlite3', sqlite],
  ['psql', client(PSQL)],
  ['mysql', client(MYSQL)],
  ['mariadb', client(MYSQL)],
];
