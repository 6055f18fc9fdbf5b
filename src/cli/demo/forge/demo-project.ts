// The small project that the demo works on, and the issues that are filed against it.

/** Files by path. */
export type Files = Readonly<Record<string, string>>;

export type SeedIssue = {
  readonly title: string;
  /** What stands above the diff. */
  readonly words: string;
  /** The change it asks for, as a diff against the commit of that index; null: no diff. */
  readonly change: { readonly from: number; readonly files: Files } | null;
  readonly author: 'maintainer' | 'stranger';
};

const PACKAGE = `{
  "name": "wordsmith",
  "version": "0.3.0",
  "description": "Slugs and word counts for the command line",
  "type": "module",
  "bin": { "wordsmith": "src/cli.js" },
  "scripts": { "test": "node --test" }
}
`;

const SLUG = `// Turns a title into the last part of an address.

/** "Hello, World" -> "hello-world" */
export function slugify(title) {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}
`;

const SLUG_WITH_ACCENTS = SLUG.replace(
  '    .toLowerCase()\n',
  "    .normalize('NFD')\n    .replace(/\\p{Diacritic}/gu, '')\n    .toLowerCase()\n",
);

const SLUG_WITH_LIMIT = `// Turns a title into the last part of an address.

/** "Hello, World" -> "hello-world"; cut at a word's end when it is longer than \`max\` characters. */
export function slugify(title, max = Infinity) {
  const slug = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  if (slug.length <= max) return slug;
  const cut = slug.slice(0, max + 1);
  return cut.includes('-') ? cut.slice(0, cut.lastIndexOf('-')) : slug.slice(0, max);
}
`;

const SLUG_TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { slugify } from '../src/slug.js';

test('words are joined by dashes', () => {
  assert.equal(slugify('Hello, World'), 'hello-world');
});

test('nothing is left at the ends', () => {
  assert.equal(slugify('  -- a b --  '), 'a-b');
});
`;

const OLD_COUNT = `// Counts words.

export function countWords(text) {
  return text.split(' ').length;
}
`;

const COUNT = `// Counts words.

/** Words are runs of letters, digits and apostrophes. */
export function countWords(text) {
  return text.match(/[\\p{L}\\p{N}']+/gu)?.length ?? 0;
}
`;

const COUNT_TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { countWords } from '../src/count.js';

test('an empty text has no words', () => {
  assert.equal(countWords(''), 0);
});

test('marks are no words', () => {
  assert.equal(countWords("one, two - and it's three!"), 5);
});
`;

const CLI = `#!/usr/bin/env node
import { countWords } from './count.js';
import { slugify } from './slug.js';

const [command, ...words] = process.argv.slice(2);
const text = words.join(' ');
if (command === 'slug') console.log(slugify(text));
else if (command === 'count') console.log(countWords(text));
else {
  console.error('usage: wordsmith slug|count <text>');
  process.exitCode = 2;
}
`;

const CLI_WITH_LIMIT = CLI.replace(
  "const [command, ...words] = process.argv.slice(2);\nconst text = words.join(' ');\n",
  "const [command, ...words] = process.argv.slice(2);\nconst max = words[0] === '--max' ? Number(words.splice(0, 2)[1]) : undefined;\nconst text = words.join(' ');\n",
)
  .replace('slugify(text)', 'slugify(text, max)')
  .replace('slug|count <text>', 'slug [--max n]|count <text>');

const README = `# wordsmith

Slugs and word counts for the comand line.

    wordsmith slug "Hello, World"   # hello-world
    wordsmith count "one two three" # 3

Run the tests with \`npm run tests\`.
`;

const README_MENDED = README.replace('comand line', 'command line').replace('npm run tests', 'npm test');

/** The project's history: all files of each commit. */
export const DEMO_COMMITS: readonly { readonly message: string; readonly files: Files }[] = [
  {
    message: 'Slugs and word counts',
    files: {
      'package.json': PACKAGE,
      'README.md': README,
      'src/cli.js': CLI,
      'src/slug.js': SLUG,
      'src/count.js': OLD_COUNT,
      'test/slug.test.js': SLUG_TEST,
    },
  },
  { message: 'Count words as people do', files: { 'src/count.js': COUNT, 'test/count.test.js': COUNT_TEST } },
];

export const DEMO_ISSUES: readonly SeedIssue[] = [
  {
    title: 'Accented letters vanish from slugs',
    words: '`slugify("Café Zoë")` gives `caf-zo`; expected `cafe-zoe`. The test below fails today.',
    change: {
      from: 1,
      files: {
        'src/slug.js': SLUG_WITH_ACCENTS,
        'test/slug.test.js': `${SLUG_TEST}
test('accents are taken off', () => {
  assert.equal(slugify('Café Zoë'), 'cafe-zoe');
});
`,
      },
    },
    author: 'maintainer',
  },
  {
    title: 'Limit the length of a slug with --max',
    words: 'Long titles make long addresses. `wordsmith slug --max 20 <text>` should cut at the end of a word.',
    change: { from: 1, files: { 'src/slug.js': SLUG_WITH_LIMIT, 'src/cli.js': CLI_WITH_LIMIT } },
    author: 'maintainer',
  },
  {
    title: 'The README names a script that does not exist',
    words: 'It is `npm test`. While there: a letter is missing in the first sentence.',
    change: { from: 1, files: { 'README.md': README_MENDED } },
    author: 'maintainer',
  },
  {
    title: 'Count words in texts with tabs',
    words: 'This patch is from before the last release.',
    change: { from: 0, files: { 'src/count.js': OLD_COUNT.replace("text.split(' ')", 'text.split(/\\s+/)') } },
    author: 'maintainer',
  },
  {
    title: 'Please run my script at every install',
    words: 'Handy for everybody.',
    change: {
      from: 1,
      files: {
        'package.json': PACKAGE.replace(
          '"test": "node --test"',
          '"test": "node --test", "postinstall": "node handy.js"',
        ),
      },
    },
    author: 'stranger',
  },
];
