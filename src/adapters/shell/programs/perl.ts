// perl: which files it edits, and whether its code surely does nothing but change and print lines.

import { isPerlHarmless } from '../perl-code.ts';
import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { checkFile, unreadCode } from './code.ts';

/** Options in one word: plain ones, then `-i` with its ending or `-e` with its code. */
const CLUSTER =
  /^-(?:[anpwWsStTuUXcv]|l[0-7]*(?![0-7])|0x[\da-fA-F]+(?![\da-fA-F])|0[0-7]*(?![0-7x]))*(?:(i)(.*)|([eE])(.*))?$/s;

type PerlWords = {
  readonly code: readonly Field[];
  readonly suffix: string | null;
  readonly operands: readonly Field[];
  readonly isRead: boolean;
};

/** Reads perl's words up to the first that is no option. */
function readWords(args: readonly Field[]): PerlWords {
  const code: Field[] = [];
  let suffix: string | null = null;
  let isRead = true;
  let index = 0;
  for (; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (!isText(arg)) {
      isRead &&= code.length > 0;
      break;
    }
    if (!arg.startsWith('-') || arg === '-') break;
    if (arg === '--') {
      index += 1;
      break;
    }
    const match = CLUSTER.exec(arg);
    if (match === null) isRead = false;
    if (match?.[1] !== undefined) suffix = match[2] ?? '';
    if (match?.[3] === undefined) continue;
    if (match[4] !== '') code.push(match[4] ?? '');
    else {
      index += 1;
      code.push(args[index] ?? '');
    }
  }
  return { code, suffix, operands: args.slice(index), isRead };
}

export const perl: Program = (call) => {
  const { args, reader, shell, name } = call;
  if (args.length === 1 && ['--version', '-v', '-V', '--help', '-h'].some((flag) => args[0] === flag)) return undefined;
  const { code, suffix, operands, isRead } = readWords(args);
  if (!isRead) reader.unresolved(`${name} is given options that may be code`);
  const hasCode = code.length > 0;
  if (suffix !== null) writeInPlace(call, suffix, hasCode ? operands : operands.slice(1));
  if (!hasCode) {
    checkFile(call, operands[0]);
    if (isText(operands[0])) reader.executed(shell, operands[0], name);
    return undefined;
  }
  // a name with `|` or `>` in it is opened as a command or for writing
  const isOdd = operands.some((operand) => !isText(operand) || /^[\s+]|[|<>&]/.test(operand));
  const isHarmless = code.every(isText) && isPerlHarmless(code.join('\n'));
  if (isOdd || !isHarmless) reader.unresolved(unreadCode(`${name} -e`));
  return undefined;
};

function writeInPlace(call: Call, suffix: string, operands: readonly Field[]): void {
  for (const operand of operands) {
    call.reader.write(call.shell, operand, `${call.name} -i`);
    if (suffix === '') continue;
    if (!isText(operand) || suffix.includes('*') || suffix.includes('/')) {
      call.reader.unresolved(`${call.name} -i keeps a copy under a name that is not worked out`);
    } else call.reader.write(call.shell, operand + suffix, `${call.name} -i`);
  }
}
