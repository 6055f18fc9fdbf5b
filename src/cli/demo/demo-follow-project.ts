// The project, the issue and the agent of `tool demo --follow`: titles for a small command line, in three rounds.

import type { Files } from './forge/demo-project.ts';
import type { IssueText } from './forge/seed.ts';

const PACKAGE = `{
  "name": "wordsmith",
  "version": "0.4.0",
  "description": "Slugs for the command line",
  "type": "module",
  "scripts": { "test": "node --test", "listed": "node tools/listed.js" }
}
`;

const README = `# wordsmith

| function | does |
| --- | --- |
| \`slugify\` | "Hello, World" becomes "hello-world" |
`;

const SLUG = `/** "Hello, World" becomes "hello-world". */
export function slugify(text) {
  return text.toLowerCase().match(/[a-z0-9]+/g)?.join('-') ?? '';
}
`;

const SLUG_TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { slugify } from '../src/slug.js';

test('words are joined by dashes', () => {
  assert.equal(slugify('Hello, World'), 'hello-world');
});
`;

const LISTED = `// Fails where a function of src/ has no line in the README.
import { readdirSync, readFileSync } from 'node:fs';

const readme = readFileSync('README.md', 'utf8');
for (const file of readdirSync('src')) {
  const text = readFileSync(\`src/\${file}\`, 'utf8');
  for (const [, name] of text.matchAll(/^export function (\\w+)/gm))
    if (!readme.includes(\`\\\`\${name}\\\`\`)) {
      console.error(\`README.md does not name \${name} (src/\${file})\`);
      process.exitCode = 1;
    }
}
`;

export const FOLLOW_FILES: Files = {
  'package.json': PACKAGE,
  'README.md': README,
  'src/slug.js': SLUG,
  'test/slug.test.js': SLUG_TEST,
  'tools/listed.js': LISTED,
};

/** What `ReviewersPlayed` runs on each commit of the pull request, beside what the daemon measures itself. */
export const FOLLOW_CHECKS: readonly (readonly string[])[] = [
  ['node', '--test'],
  ['node', 'tools/listed.js'],
];

export const FOLLOW_ISSUE: IssueText = {
  title: 'Titles, too: "the old man" becomes "The Old Man"',
  body: 'A function `titleCase` in `src/title.js`, with a test.\n',
  author: 'maintainer',
};

/** The file that the maintainer reviews, and what is said about its line. */
export const FOLLOW_REVIEW = {
  path: 'src/title.js',
  line: 3,
  body: 'Nearly there: one case is missing.',
  comment: 'What about hyphens? "a well-known man" should become "A Well-Known Man".',
} as const;

const TITLE = `/** "the old man" becomes "The Old Man". */
export function titleCase(text) {
  return text.replace(/(?<=^|\\s)\\p{L}/gu, (letter) => letter.toUpperCase());
}
`;

const TITLE_TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { titleCase } from '../src/title.js';

test('each word begins with a capital', () => {
  assert.equal(titleCase('the old man'), 'The Old Man');
});
`;

const HYPHEN_TEST = `
test('so does each part of a word with hyphens', () => {
  assert.equal(titleCase('a well-known man'), 'A Well-Known Man');
});
`;

/** The agent, as a program: it reads its prompt and does what that asks for. */
export const FOLLOW_AGENT = `import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';

const prompt = readFileSync(0, 'utf8');
const run = (program, ...args) => execFileSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
const commit = (words) => {
  run('git', 'add', '--all');
  run('git', 'commit', '--quiet', '--message', words);
};
const [, missing] = /README\\.md does not name (\\w+)/.exec(prompt) ?? [];
const [, thread] = /^### Review thread (\\d+) on src\\/title\\.js/m.exec(prompt) ?? [];

if (thread !== undefined) {
  const source = readFileSync('src/title.js', 'utf8');
  writeFileSync('src/title.js', source.replace('(?<=^|\\\\s)', '(?<=^|[\\\\s-])'));
  appendFileSync('test/title.test.js', ${JSON.stringify(HYPHEN_TEST)});
  commit('Begin each part of a word with a capital');
  run('tool', 'pr', 'reply', thread, '--body', 'Right. The parts of such a word begin with a capital now, and a test says so.');
} else if (missing !== undefined) {
  appendFileSync('README.md', \`| \\\`\${missing}\\\` | "the old man" becomes "The Old Man" |\\n\`);
  commit(\`Name \${missing} in the README\`);
} else {
  writeFileSync('src/title.js', ${JSON.stringify(TITLE)});
  writeFileSync('test/title.test.js', ${JSON.stringify(TITLE_TEST)});
  commit('Write titles');
}
`;
