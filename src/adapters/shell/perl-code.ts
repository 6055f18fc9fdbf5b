// Code of Perl that surely does nothing but change lines and print: every word, sign and variable in it is known, all else is not.

/** Signs that end a part of `s/…/…/`. `s=>1` names the key of a hash, and an escaped `@` is a variable once more. */
const DELIMITERS = '/|,!#:;%~+';
/** Brackets that stand round a part of `s{…}{…}`. */
const PAIRS: ReadonlyMap<string, string> = new Map([
  ['{', '}'],
  ['(', ')'],
  ['[', ']'],
]);

/** Reads from an opening delimiter to the next of its kind; null when it does not end. */
function part(code: string, from: number, delimiter: string): { readonly text: string; readonly end: number } | null {
  for (let at = from; at < code.length; at += 1) {
    if (code[at] === '\\') at += 1;
    else if (code[at] === delimiter) return { text: code.slice(from, at), end: at + 1 };
  }
  return null;
}

/** As `part`, between brackets of which others may stand inside; null where one of them is escaped, which may open it again. */
function bracketed(code: string, from: number, open: string): { readonly text: string; readonly end: number } | null {
  const close = PAIRS.get(open) ?? '';
  let depth = 1;
  for (let at = from; at < code.length; at += 1) {
    const sign = code[at];
    if (sign === '\\') {
      at += 1;
      if (code[at] === open || code[at] === close) return null;
    } else if (sign === open) depth += 1;
    else if (sign === close) depth -= 1;
    if (depth === 0) return { text: code.slice(from, at), end: at + 1 };
  }
  return null;
}

/** A text without what is escaped in it: none of that is a variable. */
function unescaped(text: string): string {
  return text.replace(/\\./gs, ' ');
}

/** No code in the expression, and nothing interpolated: `$` stands at an end only. */
function isPlainExpression(text: string): boolean {
  return (
    !text.includes('(?{') &&
    !text.includes('(??') &&
    !text.includes('(*') &&
    !unescaped(text).includes('@') &&
    !/\$(?!$|\)|\|)/.test(unescaped(text))
  );
}

/** Texts and what was found, nothing that Perl looks up or runs. */
function isPlainReplacement(replacement: string): boolean {
  const text = unescaped(replacement);
  return !text.includes('@') && !/\$(?![\d&])/.test(text) && !/\$[\d&]+[[{]/.test(text) && !/\$[\d&]+->/.test(text);
}

/** `s/a/b/`, `tr/a/b/`, `y/a/b/` from its first letter; where it ends, or null. */
function substitution(code: string, start: number): number | null {
  const name = /^(s|tr|y)(?=[^\w\s])/.exec(code.slice(start))?.[0];
  if (name === undefined) return null;
  const delimiter = code[start + name.length] ?? '';
  const isPair = PAIRS.has(delimiter);
  if (!isPair && !DELIMITERS.includes(delimiter)) return null;
  const first = (isPair ? bracketed : part)(code, start + name.length + 1, delimiter);
  if (first === null) return null;
  // between two pairs blanks may stand
  const opening = isPair ? (/^\s*[{([]/.exec(code.slice(first.end))?.[0] ?? null) : '';
  if (opening === null) return null;
  const second = (isPair ? bracketed : part)(code, first.end + opening.length, opening.trim() || delimiter);
  if (second === null) return null;
  const flags = /^[a-z]*/.exec(code.slice(second.end))?.[0] ?? '';
  const isPlain = name !== 's' || (isPlainExpression(first.text) && isPlainReplacement(second.text));
  if (!isPlain || !/^[gimsxacdr]*$/.test(flags)) return null;
  return second.end + flags.length;
}

/** Words of the language, and functions that give something or print it. */
const WORDS: ReadonlySet<string> = new Set(
  (
    'print printf say if unless elsif else while until for foreach my next last and or not eq ne lt gt le ge cmp x undef ' +
    'length uc lc ucfirst lcfirst join split sprintf scalar keys values each sort reverse map grep push pop shift unshift ' +
    'abs int sqrt hex oct ord chr substr index rindex defined exists delete chomp chop eof exit die warn BEGIN END STDERR STDOUT'
  ).split(' '),
);
/** Words behind which `/` begins an expression. */
const BEFORE_EXPRESSION: ReadonlySet<string> = new Set(
  'if unless elsif while until and or not split grep print'.split(' '),
);
/** Words that give nothing to work with: what follows is an operator, or the name of a file stands there. */
const BARE: ReadonlySet<string> = new Set('x BEGIN END STDERR STDOUT'.split(' '));
/** Words behind which `{` begins a block. */
const BEFORE_BLOCK: ReadonlySet<string> = new Set('map grep sort else BEGIN END'.split(' '));

const NAME = '(?:[a-z]\\w*|_|F|\\d+)(?!\\w|::)';
const PLACE = `(?:\\[(?:-?\\d+|\\$${NAME})\\]|\\{(?:\\w+|\\$${NAME}(?:\\[-?\\d+\\])?)\\})`;
const VARIABLE = new RegExp(`^(?:\\$#?${NAME}${PLACE}?|[@%]${NAME}|\\$[.&,/\\\\])`);
/** What is put into a text; behind it nothing that leads further. */
const SHOWN = new RegExp(`^(?:\\$\\.|[$@]${NAME}(?:${PLACE})?)(?![[{]|->)`);
const NUMBER = /^\d+(?:\.\d+)?/;
const SIGN =
  /^(?:<STDIN>|<>|<=>|<(?=[\s=])=?|\.\.|=~|!~|==|!=|>=|&&|\|\||\*\*|\+\+|--|[-+*.]=|=>|-(?!>)|[+*%.=>!?:;,(){}[\]])/;
/** Signs that are operators behind a value alone: elsewhere they begin a glob, a hash or a pattern. */
const BEHIND_VALUE = /^(?:<(?!STDIN>|>)|[*%?])/;

/** The end of a text in quotes; null when it does not end, or holds more than plain variables. */
function textEnd(code: string, from: number): number | null {
  const quote = code[from] ?? '';
  const found = part(code, from + 1, quote);
  if (found === null || quote === "'") return found?.end ?? null;
  const { text } = found;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') {
      at += 1;
      if (text[at] === 'N') return null;
    } else if (text[at] === '$' || text[at] === '@') {
      const shown = SHOWN.exec(text.slice(at))?.[0];
      if (shown === undefined) return null;
      at += shown.length - 1;
    }
  }
  return found.end;
}

/** `/…/` and `m/…/` from its first letter; where it ends, or null. */
function expression(code: string, start: number): number | null {
  const lead = /^m?\//.exec(code.slice(start))?.[0];
  const found = lead === undefined ? null : part(code, start + lead.length, '/');
  if (found === null || !isPlainExpression(found.text)) return null;
  return found.end + (/^[imsxgo]*/.exec(code.slice(found.end))?.[0].length ?? 0);
}

type Before = { readonly kind: 'start' | 'word' | 'operand' | 'sign'; readonly text: string };

/** Where the token ends that begins there, and what it is to what follows; null when it is not known. */
function tokenAt(code: string, at: number, before: Before): { readonly end: number; readonly token: Before } | null {
  const rest = code.slice(at);
  const operand = (end: number | null) =>
    end === null ? null : { end, token: { kind: 'operand', text: '' } as const };
  if (/^["']/.test(rest)) return /\w/.test(code[at - 1] ?? '') ? null : operand(textEnd(code, at));
  const isTerm = before.kind === 'start' || (before.kind === 'sign' && !/^[)}\]]$/.test(before.text));
  if (rest.startsWith('/')) {
    if (isTerm || (before.kind === 'word' && BEFORE_EXPRESSION.has(before.text))) return operand(expression(code, at));
    return before.kind === 'operand' ? { end: at + 1, token: { kind: 'sign', text: '/' } } : null;
  }
  // `-s` asks for the size of a file
  const found =
    before.text === '-' ? null : (substitution(code, at) ?? (/^m\//.test(rest) ? expression(code, at) : null));
  if (found !== null) return operand(found);
  const isBehindValue = before.kind === 'operand' || /^[)\]]$/.test(before.text);
  if (rest.startsWith('%') && BARE.has(before.text)) return null;
  if (rest.startsWith('%') && isBehindValue) return { end: at + 1, token: { kind: 'sign', text: '%' } };
  const variable = VARIABLE.exec(rest)?.[0] ?? NUMBER.exec(rest)?.[0];
  if (variable !== undefined) return operand(at + variable.length);
  const word = /^[A-Za-z_]\w*(?!::)/.exec(rest)?.[0];
  if (word !== undefined)
    return WORDS.has(word) ? { end: at + word.length, token: { kind: 'word', text: word } } : null;
  const sign = SIGN.exec(rest)?.[0];
  if (sign === undefined || (BEHIND_VALUE.test(sign) && !isBehindValue)) return null;
  // behind what is declared stand attributes, with texts of their own kind
  if (sign === ':' && /\bmy\b/.test(code)) return null;
  const isBlock =
    before.kind === 'start' ||
    /^[;){}]$/.test(before.text) ||
    (before.kind === 'word' && BEFORE_BLOCK.has(before.text));
  return sign === '{' && !isBlock ? null : { end: at + sign.length, token: { kind: 'sign', text: sign } };
}

export function isPerlHarmless(code: string): boolean {
  // what looks like documentation is left out by Perl
  if (/^=[A-Za-z]/m.test(code)) return false;
  let before: Before = { kind: 'start', text: '' };
  let at = 0;
  while (at < code.length) {
    const blank = /^(?:\s+|#[^\n]*)/.exec(code.slice(at))?.[0];
    if (blank !== undefined) at += blank.length;
    else {
      const found = tokenAt(code, at, before);
      if (found === null) return false;
      before = found.token;
      at = found.end;
    }
  }
  return true;
}
