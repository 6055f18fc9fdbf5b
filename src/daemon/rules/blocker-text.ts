// Blockers that the text of an issue names: `blocked by #3, #7 and #9`, `depends on: owner/repo#3`.
// Fenced and inline code, quotes and HTML comments do not count.

/** Words before a list of blockers, with the colon after them. */
const WORDS = /(?<![\w-])(?:blocked\s+by|depends\s+on)\b[^\S\n]*:?/gi;
const HAS_WORDS = /blocked\s+by|depends\s+on/i;

/** `#3`, `owner/repo#3`, or the address of an issue or a pull request. */
const REFERENCE =
  /\s*<?(?:([\w.-]+\/[\w.-]+)?#([1-9]\d{0,8})|(https?:\/\/[^\s<>()]+?)\/(?:issues|pull)\/([1-9]\d{0,8})(?:[?#][^\s<>(),]*)?)(?![\w/])>?/y;
const SEPARATOR = /\s*[,&]\s*(?:and\s+)?|\s+and\s+|[^\S\n]+/iy;

/** So many blockers of one text count. */
const MOST_NAMED = 50;

const MARKS = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*/;
const FENCE = /^(`{3,}|~{3,})(.*)$/;
/** Start of a block that ends a quoted paragraph. */
const NEW_BLOCK = /^\s*(?:#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s|`{3}|~{3}|<!--)/;

/** The paragraphs of a Markdown text, without quotes, fenced code and comments that begin a line. */
function paragraphsOf(markdown: string): string[] {
  const paragraphs: string[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  let isComment = false;
  let isQuoted = false;
  const end = () => {
    if (lines.length > 0) paragraphs.push(lines.join('\n'));
    lines = [];
  };
  for (const whole of markdown.split(/\r\n|\r|\n/)) {
    let line = whole;
    if (fence !== null) {
      const text = line.trim();
      if (text.startsWith(fence) && text.replaceAll(fence.charAt(0), '') === '') fence = null;
      continue;
    }
    if (!isComment && isQuoted && line.trim() !== '' && !NEW_BLOCK.test(line) && !/^\s*>/.test(line)) continue;
    isQuoted = false;
    const [marks = ''] = isComment ? [] : (MARKS.exec(line) ?? []);
    const content = line.slice(marks.length);
    if (isComment || content.startsWith('<!--')) {
      end();
      const close = line.indexOf('-->', isComment ? 0 : marks.length + 4);
      isComment = close === -1;
      if (isComment) continue;
      line = line.slice(close + 3);
    } else if (content.startsWith('>')) {
      end();
      const quoted = content.replace(/^[>\s]+/, '');
      // The next line goes on with a quoted paragraph without a mark of its own.
      isQuoted = quoted !== '' && !NEW_BLOCK.test(quoted);
      continue;
    } else {
      const [, open = '', info = ''] = FENCE.exec(content) ?? [];
      if (open !== '' && !(open.startsWith('`') && info.includes('`'))) {
        end();
        fence = open;
        continue;
      }
    }
    if (line.trim() === '' || NEW_BLOCK.test(line)) end();
    if (line.trim() !== '') lines.push(line);
  }
  end();
  return paragraphs;
}

/** Places of the runs of backticks by their length, last to first. */
function runsOf(text: string): ReadonlyMap<number, number[]> {
  const runs = new Map<number, number[]>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const known = runs.get(run.length);
    if (known === undefined) runs.set(run.length, [index]);
    else known.push(index);
  }
  for (const places of runs.values()) places.reverse();
  return runs;
}

/** Place of the next run of this length; -1: none. Those before it are dropped, so that all calls together take one pass. */
function nextRun(runs: ReadonlyMap<number, number[]>, length: number, after: number): number {
  const places = runs.get(length) ?? [];
  while ((places.at(-1) ?? Number.POSITIVE_INFINITY) <= after) places.pop();
  return places.at(-1) ?? -1;
}

/** A paragraph without comments and marks of emphasis. A backtick takes the place of inline code, the text that of a link. */
function plain(paragraph: string): string {
  const runs = runsOf(paragraph);
  let text = '';
  let at = 0;
  for (const { 0: mark, index } of paragraph.matchAll(/`+|<!--|\\[`<]/g)) {
    if (index < at) continue;
    const isCode = mark.startsWith('`');
    const next = isCode
      ? nextRun(runs, mark.length, index)
      : mark === '<!--'
        ? paragraph.indexOf('-->', index + 4)
        : -1;
    if (next === -1) continue;
    text += paragraph.slice(at, index) + (isCode ? '`' : ' ');
    at = next + (isCode ? mark.length : 3);
  }
  text += paragraph.slice(at);
  return text.replaceAll(/\*|__/g, '').replaceAll(/\[([^[\]\n]*)\]\([^()\s]*\)/g, '$1');
}

/**
 * Numbers of the issues and pull requests of the same repository that the text names as blockers, each once.
 * @param url address of the issue, which tells its repository
 */
export function blockersIn(body: string, url: string): readonly number[] {
  if (!HAS_WORDS.test(body)) return [];
  const home = url.replace(/\/(?:issues|pull)\/\d+$/, '').toLowerCase();
  const isOwn = (slug: string | undefined, address: string | undefined) =>
    (slug === undefined || home.endsWith(`/${slug.toLowerCase()}`)) &&
    (address === undefined || address.toLowerCase() === home);
  const found = new Set<number>();
  for (const paragraph of paragraphsOf(body)) {
    const text = plain(paragraph);
    for (const { 0: words, index } of text.matchAll(WORDS)) {
      REFERENCE.lastIndex = index + words.length;
      for (let match = REFERENCE.exec(text); match !== null; match = REFERENCE.exec(text)) {
        const [, slug, short, address, long] = match;
        if (isOwn(slug, address)) found.add(Number(short ?? long));
        SEPARATOR.lastIndex = REFERENCE.lastIndex;
        if (SEPARATOR.exec(text) === null) break;
        REFERENCE.lastIndex = SEPARATOR.lastIndex;
      }
    }
  }
  return [...found].slice(0, MOST_NAMED);
}
