// Code of Node and of Ruby that surely does nothing but print.

const LITERALS = /^(\d+(\.\d+)?|true|false|null)$/;

/** Words, numbers, strings and signs of a line of code; null when a string does not end or is more than a text. */
function tokensOf(code: string): readonly string[] | null {
  const tokens: string[] = [];
  let rest = code;
  while (rest !== '') {
    const found =
      /^(?:[ \t]+|'(?:[^'\\\n]|\\[^\n])*'|"(?:[^"\\\n]|\\[^\n])*"|\d[\w.]*|[A-Za-z_$][\w$]*|[\n;(),.+*\-%])/.exec(
        rest,
      )?.[0];
    if (found === undefined) return null;
    if (found.trim() !== '' || found === '\n') tokens.push(found);
    rest = rest.slice(found.length);
  }
  return tokens;
}

const isString = (token: string): boolean => token.startsWith("'") || token.startsWith('"');

/** Whether the code is nothing but calls of the given names with texts and numbers. */
export function isPrinting(code: string, names: readonly string[]): boolean {
  const tokens = tokensOf(code);
  if (tokens === null) return false;
  let depth = 0;
  let index = 0;
  const takes = (words: readonly string[]) => words.every((word, offset) => tokens[index + offset] === word);
  while (index < tokens.length) {
    const token = tokens[index] ?? '';
    const call =
      depth === 0 ? names.map((name) => name.split(/(\.)/)).find((words) => takes([...words, '('])) : undefined;
    if (call !== undefined) {
      index += call.length + 1;
      depth += 1;
      continue;
    }
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    else if (token === ';' || token === '\n') {
      if (depth !== 0) return false;
    } else if (depth === 0) return false;
    else if (!isString(token) && !LITERALS.test(token) && !/^[,+*%-]$/.test(token)) return false;
    if (depth < 0) return false;
    index += 1;
  }
  return depth === 0;
}

/** `require('./package.json').version` and the like: what node -p shows without running anything. */
export function isValue(code: string): boolean {
  const tokens = tokensOf(code) ?? [];
  const [first, open, path = '', close, ...names] = tokens;
  if (first === 'process') return tokens.join('') === 'process.version' || tokens.join('') === 'process.platform';
  if (first !== 'require' || open !== '(' || close !== ')' || !/^['"]\.\/[\w./-]+\.json['"]$/.test(path)) return false;
  return names.every((name, index) => (index % 2 === 0 ? name === '.' : /^[A-Za-z_]\w*$/.test(name)));
}

const RUBY_VALUE = String.raw`(?:\d+(?:\.\d+)?|'[^'\\\n]*'|"[^"#\\\n]*"|RUBY_VERSION|RUBY_PLATFORM|true|false|nil)`;
const RUBY_VALUES = String.raw`${RUBY_VALUE}(?:\s*[-+*,]\s*${RUBY_VALUE})*`;
const RUBY_LINE = new RegExp(String.raw`^\s*(?:(?:puts|print|p)(?:\s+${RUBY_VALUES}|\(${RUBY_VALUES}\))?\s*)?$`);

/** Whether each line shows texts and numbers, and nothing else. */
export function isRubyPrinting(code: string): boolean {
  return code.split('\n').every((line) => RUBY_LINE.test(line));
}
