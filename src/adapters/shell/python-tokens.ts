// The words and signs of Python code, with the code that stands in its texts; null where it is not read as Python does.

export type Token = {
  readonly kind: 'name' | 'text' | 'number' | 'sign' | 'line';
  readonly text: string;
};

const BLANK = /^(?:[ \t]+|\\\n|#[^\n]*)/;
const NUMBER = /^(?:0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?[jJ]?)/;
const NAME = /^[A-Za-z_][A-Za-z_0-9]*/;
const TEXT = /^(?:[rRuUbBfF]|[rR][bBfF]|[bBfF][rR])?('''|"""|'|")/;
const SIGN = /^(?:\*\*=?|\/\/=?|<<=?|>>=?|[-+*/%&|^=!<>:]=|->|[-+*/%&|^~=<>:;,.(){}[\]])/;
/** A comment may say that the bytes mean something else. */
const OTHER_ENCODING = /#[^\n]*coding[:=]/;

/** The end of a text that begins at `from` behind its quotes; null when it does not end. */
function endOf(code: string, from: number, quotes: string): number | null {
  for (let at = from; at < code.length; at += 1) {
    if (code[at] === '\\') at += 1;
    else if (code.startsWith(quotes, at)) return at;
    else if (code[at] === '\n' && quotes.length === 1) return null;
  }
  return null;
}

/** The pieces of code in the braces of a text; null where they are not plain. */
function expressionsIn(text: string): readonly string[] | null {
  const found: string[] = [];
  if (text.includes('\\N')) return null;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign !== '{' && sign !== '}') continue;
    if (text[at + 1] === sign) at += 1;
    else {
      const end = text.indexOf('}', at);
      const inner = text.slice(at + 1, end);
      if (sign === '}' || end === -1 || /[{\\#]/.test(inner)) return null;
      // the form in which it is shown is no code
      found.push(
        inner
          .replace(/:[^:'"[\]()]*$/, '')
          .replace(/![rsa]$/, '')
          .replace(/=\s*$/, ''),
      );
      at = end;
    }
  }
  return found;
}

/** @returns the tokens, those of code in texts in brackets behind the text */
export function tokensOf(code: string): readonly Token[] | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: such signs end lines for Python
  if (/[\x00-\x08\x0b-\x1f\x7f]/.test(code) || OTHER_ENCODING.test(code)) return null;
  const tokens: Token[] = [];
  let depth = 0;
  let at = 0;
  const take = (kind: Token['kind'], text: string) => {
    tokens.push({ kind, text });
    at += text.length;
  };
  while (at < code.length) {
    const rest = code.slice(at);
    const blank = BLANK.exec(rest)?.[0];
    const opening = TEXT.exec(rest);
    const name = NAME.exec(rest)?.[0];
    const number = NUMBER.exec(rest)?.[0];
    const sign = SIGN.exec(rest)?.[0];
    if (blank !== undefined) at += blank.length;
    else if (rest.startsWith('\n')) {
      if (depth === 0) take('line', '\n');
      else at += 1;
    } else if (opening !== null) {
      const [lead, quotes = ''] = opening;
      const end = endOf(code, at + lead.length, quotes);
      if (end === null) return null;
      const inner = code.slice(at + lead.length, end);
      take('text', code.slice(at, end + quotes.length));
      for (const one of /f/i.test(lead) ? (expressionsIn(inner) ?? ['`']) : []) {
        const read = tokensOf(one);
        if (read === null || read.some(({ kind }) => kind === 'line') || !isBalanced(read)) return null;
        tokens.push({ kind: 'sign', text: '(' }, ...read, { kind: 'sign', text: ')' });
      }
    } else if (name !== undefined) {
      // what stands before quotes may have a meaning of its own
      if (/^['"]/.test(rest.slice(name.length))) return null;
      take('name', name);
    } else if (number !== undefined) take('number', number);
    else if (sign !== undefined) {
      depth += '([{'.includes(sign) ? 1 : ')]}'.includes(sign) ? -1 : 0;
      if (depth < 0) return null;
      take('sign', sign);
    } else return null;
  }
  return depth === 0 ? tokens : null;
}

function isBalanced(tokens: readonly Token[]): boolean {
  let depth = 0;
  for (const { kind, text } of tokens) {
    if (kind !== 'sign') continue;
    depth += '([{'.includes(text) ? 1 : ')]}'.includes(text) ? -1 : 0;
    if (depth < 0) return false;
  }
  return depth === 0;
}
