// Checks of texts: the length of sentences in the documents, the headers of the program's files, and the length of source and tests.
// usage: tsx scripts/check-texts.ts [root]

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of source or tests that is longer says why. */
const MOST_LINES = 400;
const MOST_WORDS = 30;
const QUESTION = /^(?:how|what|when|where|whether|which|who|whom|whose|why)\b/i;
const PROGRAM = ['src', 'hooks', 'scripts', 'bench', 'test'];
/** Files at the root, and folders, of documents. A changelog is a list. */
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs', 'src'];

const root = resolve(process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url))));

function filesIn(place: string, ending: string): string[] {
  if (place.endsWith(ending)) return [place];
  return readdirSync(join(root, place), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(place, file))
    .sort();
}

type Paragraph = { readonly line: number; readonly text: string };

/** Paragraphs, items of lists and cells of tables, without blocks of code; code within a line is one word. */
function paragraphsOf(page: string): readonly Paragraph[] {
  const found: { line: number; text: string }[] = [];
  let isFenced = false;
  let isOpen = false;
  for (const [index, line] of page.split('\n').entries()) {
    const isFence = /^ *```/.test(line);
    if (isFence) isFenced = !isFenced;
    const text = line.replaceAll(/`[^`]+`/g, 'code').trim();
    if (isFenced || isFence || text === '' || /^(?:#|\||!\[|<)/.test(text)) {
      isOpen = false;
      if (!isFenced && text.startsWith('|'))
        for (const cell of text.split('|')) found.push({ line: index + 1, text: cell });
      continue;
    }
    const last = found.at(-1);
    if (isOpen && last !== undefined && !/^(?:[-*]|\d+\.) /.test(text)) last.text += ` ${text}`;
    else found.push({ line: index + 1, text });
    isOpen = true;
  }
  return found;
}

function sentencesOf(text: string): readonly string[] {
  return text
    .replaceAll(/\]\([^)]*\)/g, ']')
    .split(/(?<=[.?!:;])[)"”*]*\s+/)
    .map((sentence) => sentence.trim());
}

function wordsOf(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

const problems: string[] = [];
let looked = 0;
for (const page of DOCUMENTS.flatMap((place) => filesIn(place, '.md')))
  for (const { line, text } of paragraphsOf(readFileSync(join(root, page), 'utf8')))
    for (const sentence of sentencesOf(text)) {
      looked += 1;
      const words = wordsOf(sentence);
      if (words > MOST_WORDS)
        problems.push(`${page}:${line}: expected at most ${MOST_WORDS} words in a sentence, got ${words}: ${sentence}`);
    }
for (const file of PROGRAM.flatMap((place) => filesIn(place, '.ts'))) {
  looked += 1;
  const header = /^(?:#!.*\n)?\/\/ (.*)/.exec(readFileSync(join(root, file), 'utf8'))?.[1] ?? '';
  if (QUESTION.test(header)) problems.push(`${file}: expected a header that names the thing, got: ${header}`);
}
for (const file of [...filesIn('src', '.ts'), ...filesIn('test', '.test.ts')]) {
  looked += 1;
  const text = readFileSync(join(root, file), 'utf8');
  const lines = text.split('\n').length - 1;
  const reason = `// Over ${MOST_LINES} lines: `;
  if (lines > MOST_LINES && !text.includes(reason))
    problems.push(`${file}: expected at most ${MOST_LINES} lines, or a reason ("${reason}…"), got ${lines} lines`);
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
else process.stdout.write(`texts hold: ${looked} sentences and headers looked at\n`);
