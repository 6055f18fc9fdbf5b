// Patterns of bash, matched in time that grows with the text and not with what could match.

const CLASSES: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
};

/** One sign of a pattern: any run, one sign of a kind, or the sign itself. */
type Token = '*' | ((sign: string) => boolean);

function inClass(text: string): string {
  return text.replace(/[\\^\]-]/g, '\\$&');
}

/** `[…]` from its opening; null when it is none. */
function bracket(pattern: readonly string[], start: number): { readonly token: Token; readonly end: number } | null {
  let at = start + 1;
  const isNot = pattern[at] === '!' || pattern[at] === '^';
  if (isNot) at += 1;
  let inner = '';
  let isCertain = true;
  for (let isFirst = true; at < pattern.length; isFirst = false) {
    const sign = pattern[at] ?? '';
    if (sign === ']' && !isFirst) return { token: isCertain ? oneOf(inner, isNot) : () => true, end: at + 1 };
    const close = sign === '[' && /[:.=]/.test(pattern[at + 1] ?? '') ? closing(pattern, at + 1) : null;
    if (close !== null) {
      const known = CLASSES[close.name];
      if (known === undefined) isCertain = false;
      inner += known ?? '';
      at = close.end;
    } else if (sign === '\\') {
      inner += inClass(pattern[at + 1] ?? '\\');
      at += 2;
    } else {
      inner += sign === '-' && !isFirst && pattern[at + 1] !== ']' ? '-' : inClass(sign);
      at += 1;
    }
  }
  return null;
}

/** The name in `[:name:]` and where it ends. */
function closing(pattern: readonly string[], at: number): { readonly name: string; readonly end: number } | null {
  for (let end = at + 1; end < pattern.length - 1; end += 1) {
    if (pattern[end] !== pattern[at] || pattern[end + 1] !== ']') continue;
    return { name: pattern[at] === ':' ? pattern.slice(at + 1, end).join('') : '', end: end + 2 };
  }
  return null;
}

function oneOf(inner: string, isNot: boolean): Token {
  try {
    const expression = new RegExp(`^[${isNot ? '^' : ''}${inner}]$`, 'u');
    return (sign) => expression.test(sign);
  } catch {
    return () => true;
  }
}

function tokensOf(pattern: string): readonly Token[] {
  const signs = [...pattern];
  const tokens: Token[] = [];
  for (let at = 0; at < signs.length; ) {
    const sign = signs[at] ?? '';
    const set = sign === '[' ? bracket(signs, at) : null;
    const plain = sign === '\\' ? (signs[at + 1] ?? '\\') : sign;
    if (set !== null) tokens.push(set.token);
    else if (sign === '*') tokens.push('*');
    else if (sign === '?') tokens.push(() => true);
    else tokens.push((other) => other === plain);
    at = set?.end ?? at + (sign === '\\' ? 2 : 1);
  }
  return tokens;
}

/** Says of a whole text without `/` whether a pattern matches it; `*` and `?` stand for `/` as well. */
export function matcher(pattern: string): (text: string) => boolean {
  const tokens = tokensOf(pattern);
  return (text) => {
    const signs = [...text];
    let at = 0;
    let token = 0;
    let star = -1;
    let resume = 0;
    while (at < signs.length) {
      const next = tokens[token];
      if (next === '*') {
        star = token;
        resume = at;
        token += 1;
      } else if (next?.(signs[at] ?? '')) {
        at += 1;
        token += 1;
      } else if (star >= 0) {
        resume += 1;
        at = resume;
        token = star + 1;
      } else return false;
    }
    return tokens.slice(token).every((rest) => rest === '*');
  };
}

/** Whether a pattern's text holds a sign that is not quoted. */
export function hasPattern(text: string): boolean {
  return /(^|[^\\])(\\\\)*[*?[]/.test(text);
}
