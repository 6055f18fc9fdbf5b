// Programs that fetch files.

import { readOptions } from '../options.ts';
import { baseOf } from '../paths.ts';
import type { Program } from '../reader.ts';
import { type Field, isText, UNKNOWN } from '../values.ts';
import { checkOptions } from './files.ts';

const CURL_TEXTS = [...'AbCcdDeEFhHKmoPQrtTuUwxXyYz'];
const CURL_LONGS = [
  'output=',
  'output-dir=',
  'remote-name',
  'remote-name-all',
  'remote-header-name',
  'create-dirs',
  'dump-header=',
  'cookie-jar=',
  'trace=',
  'trace-ascii=',
  'config=',
  'etag-save=',
  'hsts=',
  'alt-svc=',
  'libcurl=',
  'stderr=',
  'data=',
  'data-binary=',
  'data-raw=',
  'data-urlencode=',
  'header=',
  'request=',
  'url=',
  'user=',
  'user-agent=',
  'form=',
  'cookie=',
  'proxy=',
  'retry=',
  'retry-delay=',
  'max-time=',
  'connect-timeout=',
  'cacert=',
  'cert=',
  'key=',
  'write-out=',
  'range=',
  'referer=',
  'upload-file=',
  'resolve=',
  'interface=',
  'limit-rate=',
  'location',
  'fail',
  'silent',
  'show-error',
  'insecure',
  'include',
  'head',
  'verbose',
  'compressed',
  'json=',
];

const curl: Program = (call) => {
  const options = readOptions(call.args, { short: CURL_TEXTS, long: CURL_LONGS });
  checkOptions(call, options);
  const { reader, shell } = call;
  if (options.has('K', 'config')) reader.unresolved('curl reads more options from a file');
  const directory = options.last('output-dir');
  const inDirectory = (file: Field): Field =>
    directory === undefined ? file : isText(directory) && isText(file) ? `${directory}/${file}` : UNKNOWN;
  for (const file of options.all('o', 'output')) {
    if (file === '-') continue;
    reader.write(shell, inDirectory(file), 'curl -o');
    // `#1` stands for what matched in the address
    if (isText(file) && file.includes('#'))
      reader.unresolved('curl -o writes to names that are worked out when it runs');
  }
  for (const file of options.all(
    'D',
    'dump-header',
    'c',
    'cookie-jar',
    'trace',
    'trace-ascii',
    'etag-save',
    'hsts',
    'alt-svc',
    'libcurl',
    'stderr',
  )) {
    if (file !== '-') reader.write(shell, file, 'curl');
  }
  for (const format of options.all('w', 'write-out')) {
    if (!isText(format) || format.includes('%output') || format.startsWith('@'))
      reader.unresolved('curl -w may write a file');
  }
  if (!options.has('O', 'remote-name', 'remote-name-all')) return undefined;
  if (options.has('J', 'remote-header-name')) reader.unresolved('curl -J takes the name from the answer');
  for (const url of [...options.operands, ...options.all('url')]) {
    const name = isText(url) && !/[[{]/.test(url) ? baseOf(url.split(/[?#]/)[0] ?? '') : '';
    if (name === '') reader.unresolved('curl -O writes to a name that is not known before it runs');
    else reader.write(shell, inDirectory(name), 'curl -O');
  }
  return undefined;
};

const WGET_LONGS = [
  'output-document=',
  'directory-prefix=',
  'output-file=',
  'append-output=',
  'input-file=',
  'execute=',
  'config=',
  'content-disposition',
  'recursive',
  'mirror',
  'page-requisites',
  'save-cookies=',
  'load-cookies=',
  'header=',
  'user-agent=',
  'post-data=',
  'post-file=',
  'timeout=',
  'tries=',
  'wait=',
  'level=',
  'accept=',
  'reject=',
  'domains=',
  'warc-file=',
  'rejected-log=',
  'use-askpass=',
  'quiet',
  'no-verbose',
  'spider',
  'version',
  'help',
];

const wget: Program = (call) => {
  const options = readOptions(call.args, { short: [...'aoePBOtTwUiAIDlQRX'], long: WGET_LONGS });
  checkOptions(call, options);
  const { reader, shell } = call;
  if (options.has('e', 'execute', 'config', 'use-askpass', 'warc-file', 'i', 'input-file', 'content-disposition')) {
    reader.unresolved('wget is given options that may write other files');
  }
  for (const file of options.all('o', 'output-file', 'a', 'append-output', 'save-cookies', 'rejected-log'))
    reader.write(shell, file, 'wget -o');
  if (options.has('spider', 'version', 'help')) return undefined;
  const documents = options.all('O', 'output-document');
  for (const file of documents) if (file !== '-') reader.write(shell, file, 'wget -O');
  if (documents.length > 0) return undefined;
  const directory = options.last('P', 'directory-prefix') ?? '.';
  reader.write(shell, directory, 'wget', { tree: true });
  return undefined;
};

export const TRANSFER_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['curl', curl],
  ['wget', wget],
];
