// The small part of Perl that surely does nothing but change and print lines.

/** Signs that end a part of `s/…/…/`; brackets that pair are left out. */
const DELIMITERS = '/|,!#:;@%=~+';

/** Reads from an opening delimiter to the next of its kind; null when it does not end. */
function part(code: string, from: number, delimiter: string): { readonly text: string; readonly end: number } | null {
  for (let at = from; at < code.length; at += 1) {
    if (code[at] === '\\') at += 1;
    else if (code[at] === delimiter) return { text: code.slice(from, at), end: at + 1 };
  }
  return null;
}

/** No code in the expression, and nothing interpolated: `$` stands at an end only. */
function isPlainExpression(text: string): boolean {
  return (
    !text.includes('(?{') &&
    !text.includes('(??') &&
    !text.includes('(*') &&
    !text.includes('@') &&
    !/\$(?!$|\)|\|)/.test(text)
  );
}

/** Texts and what was found, nothing that Perl looks up or runs. */
function isPlainReplacement(text: string): boolean {
  return !text.includes('@') && !/\$(?![\d&])/.test(text) && !/\$[\d&]+[[{]/.test(text) && !/\$[\d&]+->/.test(text);
}

/** `s/a/b/`, `tr/a/b/`, `y/a/b/` from its first letter; where it ends, or null. */
function substitution(code: string, start: number): number | null {
  const name = /^(s|tr|y)(?=[^\w\s])/.exec(code.slice(start))?.[0];
  if (name === undefined) return null;
  const delimiter = code[start + name.length] ?? '';
  if (!DELIMITERS.includes(delimiter)) return null;
  const first = part(code, start + name.length + 1, delimiter);
  const second = first === null ? null : part(code, first.end, delimiter);
  if (first === null || second === null) return null;
  const flags = /^[a-z]*/.exec(code.slice(second.end))?.[0] ?? '';
  const isPlain = name !== 's' || (isPlainExpression(first.text) && isPlainReplacement(second.text));
  if (!isPlain || !/^[gimsxacdr]*$/.test(flags)) return null;
  return second.end + flags.length;
}

/** `print if /…/`, `print unless /…/` from its first letter; where it ends, or null. */
function print(code: string, start: number): number | null {
  const name = /^print( (if|unless) \/)?/.exec(code.slice(start))?.[0];
  if (name === undefined) return null;
  if (!name.endsWith('/')) return start + name.length;
  const expression = part(code, start + name.length, '/');
  if (expression === null || !isPlainExpression(expression.text)) return null;
  return expression.end + (/^[imsx]*/.exec(code.slice(expression.end))?.[0].length ?? 0);
}

/** Whether the code is substitutions and prints alone, one after the other. */
export function isPerlHarmless(code: string): boolean {
  let at = 0;
  while (at < code.length) {
    const blank = /^[\s;]*/.exec(code.slice(at))?.[0].length ?? 0;
    at += blank;
    if (at >= code.length) return true;
    const end = substitution(code, at) ?? print(code, at);
    if (end === null) return false;
    at = end;
    if (at < code.length && !/^\s*(;|$)/.test(code.slice(at))) return false;
  }
  return true;
}
