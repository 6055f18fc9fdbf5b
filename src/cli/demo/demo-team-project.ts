// The project, the SPEC and the script of `tool demo --team`: a guest book that a team of four lets visitors sign.

import type { TeammateScript } from '../agents/agent-teammate.ts';

export const DEMO_SPEC = 'SPEC-GUESTBOOK-001';

const TESTS = `import assert from 'node:assert/strict';
import test from 'node:test';
import { listEntries } from '../src/api/entries.js';
import { entryList } from '../src/components/entry-list.js';

test('entries are listed, the newest first', () => {
  const { status, body } = listEntries();
  assert.equal(status, 200);
  assert.deepEqual(body.slice(-2).map(({ name }) => name), ['Grace', 'Ada']);
});

test('what visitors write is text', () => {
  assert.match(entryList([{ name: '<b>', message: '&' }]), /&lt;b&gt;.*&amp;/);
});
`;

const LIST = `import { escaped } from '../lib/escaped.js';

/** The entries as HTML. */
export function entryList(entries) {
  return \`<ul>\${entries.map(({ name, message }) => \`<li><b>\${escaped(name)}</b> \${escaped(message)}</li>\`).join('')}</ul>\`;
}
`;

const SPEC = `---
id: ${DEMO_SPEC}
title: Visitors sign the guest book
status: approved
created: 2026-01-05
updated: 2026-01-05
---
# Visitors sign the guest book

- R1: When a visitor posts a name and a message, the API shall store the entry and answer 201 with it.
- R2: If the name or the message is empty, then the API shall answer 422 with the field that is missing.
- R3: When somebody asks for its health, the API shall answer 200 with the word ok.
- R4: When the API answers 422, the form shall show the field that is missing.
- R5: The banner shall say welcome.
`;

const PLAN = `# Plan

> The API and the banner at once, the form with the API, the tests with what they test.

## T1: Build the server side: store entries

- files: src/api/entries.js, src/services/store.js
- domain: backend
- owner: backend-dev
- depends on: none
- requirements: R1, R2

## T2: Tell the health

- files: src/api/health.js
- domain: backend
- owner: backend-dev
- depends on: none
- requirements: R3

## T3: Build the screens: the form

- files: src/components/entry-form.js
- domain: frontend
- owner: frontend-dev
- depends on: T1
- requirements: R4

## T4: Greet visitors with a banner

- files: src/components/banner.js
- domain: frontend
- owner: frontend-dev
- depends on: none
- requirements: R5

## T5: Test the signing

- files: tests/sign.test.js
- domain: tests
- owner: tester
- depends on: T1
- requirements: R1, R2

## T6: Test the health and the screens

- files: tests/health.test.js, tests/screens.test.js
- domain: tests
- owner: tester
- depends on: T2, T3, T4
- requirements: R3, R4, R5
`;

const ACCEPTANCE = `# Acceptance

- A1 (R1): Given a guest book, when Grace posts "Hello", then her entry is the first in the list.
- A2 (R2): Given a guest book, when somebody posts no name, then the answer is 422 with the field name.
- A3 (R3): Given a guest book, when somebody asks for its health, then the answer is 200 with ok.
- A4 (R4): Given a form, when the API misses the name, then the form says so.
- A5 (R5): Given a visitor, when the page is opened, then the banner says welcome.
`;

const CONFIG = '.tool/config/workflow.yaml';

const configText = (patterns: string) => `workflow:
  team:
    enabled: true
${patterns}`;

/** Paths and contents of the project. */
export const DEMO_FILES: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify({ name: 'guestbook', private: true, type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  '.gitignore': 'node_modules/\ncoverage/\n.tool/teams/\n.tool/state/\n.tool/cache/\n',
  'src/services/store.js': `const entries = [
  { name: 'Ada', message: 'First!' },
  { name: 'Grace', message: 'Second!' },
];

export function allEntries() {
  return entries;
}

export function addEntry(entry) {
  entries.push(entry);
  return entry;
}
`,
  'src/api/entries.js': `import { allEntries } from '../services/store.js';

/** Answers a request for the entries: the newest first. */
export function listEntries() {
  return { status: 200, body: [...allEntries()].reverse() };
}
`,
  'src/components/entry-list.js': LIST,
  'src/lib/escaped.js': `const SIGNS = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function escaped(text) {
  return text.replaceAll(/[&<>"]/g, (sign) => SIGNS[sign]);
}
`,
  'tests/entries.test.js': TESTS,
  [CONFIG]: configText(''),
  [`.tool/specs/${DEMO_SPEC}/spec.md`]: SPEC,
  [`.tool/specs/${DEMO_SPEC}/plan.md`]: PLAN,
  [`.tool/specs/${DEMO_SPEC}/acceptance.md`]: ACCEPTANCE,
};

/** The same project where a fourth teammate judges what the gate measured. */
export const DEMO_TEAM_FILES: Readonly<Record<string, string>> = {
  ...DEMO_FILES,
  [CONFIG]: configText(`    patterns:
      implementation: { roles: [backend-dev, frontend-dev, tester, quality] }
`),
};

/** What is asked for on the forge. */
export const DEMO_ISSUE = {
  title: 'Let visitors sign the guest book',
  body: `Visitors want to leave a line: the API stores it, a form asks for it, a banner greets them, and tests hold all of that.

Please build ${DEMO_SPEC}, as it was approved.
`,
  author: 'maintainer',
} as const;

const entries = (listed: string, missing: string) => `import { addEntry, allEntries } from '../services/store.js';

/** Answers a request for the entries: the newest first. */
export function listEntries() {
  return { status: 200, body: ${listed} };
}

/** Stores an entry, or says which field is missing. */
export function postEntry({ name, message }) {
  if (!name) return { status: 422, body: ${missing.replaceAll('FIELD', "'name'")} };
  if (!message) return { status: 422, body: ${missing.replaceAll('FIELD', "'message'")} };
  return { status: 201, body: addEntry({ name, message }) };
}
`;

const NEWEST_FIRST = '[...allEntries()].reverse()';
/** So long somebody thinks about a change. A model takes longer; the ratio of both ways of working is the same. */
const thinks = (seconds: number) => ({ think_ms: seconds * 1000 });

const SIGN_TESTS = `// Of ${DEMO_SPEC}.
import assert from 'node:assert/strict';
import test from 'node:test';
import { listEntries, postEntry } from '../src/api/entries.js';

test('R1, A1: an entry is stored, and is the first in the list', () => {
  assert.equal(postEntry({ name: 'Grace', message: 'Hello' }).status, 201);
  assert.equal(listEntries().body[0].message, 'Hello');
});

test('R2, A2: what is missing is named', () => {
  assert.equal(postEntry({ name: '', message: 'x' }).body.field, 'name');
  assert.equal(postEntry({ name: 'x', message: '' }).body.field, 'message');
});
`;

const HEALTH_TESTS = `// Of ${DEMO_SPEC}.
import assert from 'node:assert/strict';
import test from 'node:test';
import { health } from '../src/api/health.js';

test('R3, A3: it says that it is well', () => {
  assert.deepEqual(health(), { status: 200, body: 'ok' });
});
`;

const SCREEN_TESTS = `// Of ${DEMO_SPEC}.
import assert from 'node:assert/strict';
import test from 'node:test';
import { banner } from '../src/components/banner.js';
import { entryForm } from '../src/components/entry-form.js';

test('R4, A4: there is a field for the name and one for the message, and what is missing is shown', () => {
  assert.match(entryForm(), /name="name".*name="message"/s);
  assert.match(entryForm({ field: 'name', says: 'is missing' }), /name is missing/);
});

test('R5, A5: visitors are greeted', () => {
  assert.match(banner(), /Welcome/);
});
`;

const send = (recipient: string, type: string, content: unknown) => ({
  call: { tool: 'SendMessage', input: { recipient, type, content } },
});

/**
 * What the four do. The server's first version is wrong on purpose and is rejected by the project's own tests; the form
 * needs more of the API than that gives, and asks for it.
 */
export const DEMO_SCRIPT: TeammateScript = {
  'backend-dev': {
    tasks: [
      {
        subject: 'Change asked for',
        steps: [
          thinks(1.5),
          {
            write: { path: 'src/api/entries.js', text: entries(NEWEST_FIRST, "{ field: FIELD, says: 'is missing' }") },
          },
          send('frontend-dev', 'change_completed', {
            file: 'src/api/entries.js',
            change: 'a 422 says what is wrong with its field',
            commitRef: 'HEAD',
          }),
        ],
      },
      {
        subject: 'health',
        steps: [
          thinks(5),
          {
            write: {
              path: 'src/api/health.js',
              text: "/** Says that it is well. */\nexport function health() {\n  return { status: 200, body: 'ok' };\n}\n",
            },
          },
        ],
      },
      {
        subject: 'Build the server side',
        steps: [
          thinks(1.5),
          { write: { path: 'src/api/entries.js', text: entries('[...allEntries()]', '{ field: FIELD }') } },
          send('frontend-dev', 'api_ready', {
            endpoint: 'POST /entries',
            schema: { name: 'string', message: 'string' },
          }),
        ],
        mend: [
          { say: 'the newest have to come first' },
          thinks(1),
          { write: { path: 'src/api/entries.js', text: entries(NEWEST_FIRST, '{ field: FIELD }') } },
        ],
      },
    ],
    mail: {
      change_request: [
        {
          call: {
            tool: 'TaskCreate',
            input: {
              subject: 'Change asked for: say what is wrong with the field',
              description: 'frontend-dev needs the words of a 422 beside the name of its field',
              owner: 'backend-dev',
              files: ['src/api/entries.js'],
            },
          },
        },
      ],
    },
  },
  'frontend-dev': {
    tasks: [
      {
        subject: 'banner',
        steps: [
          thinks(4),
          {
            write: {
              path: 'src/components/banner.js',
              text: "/** Greets visitors. */\nexport function banner() {\n  return '<h1>Welcome to the guest book</h1>';\n}\n",
            },
          },
        ],
      },
      {
        subject: 'Build the screens',
        steps: [
          thinks(3),
          send('backend-dev', 'change_request', {
            file: 'src/api/entries.js',
            requestedChange: 'say what is wrong with the field in a 422',
            reason: 'the form shows it',
          }),
          {
            write: {
              path: 'src/components/entry-form.js',
              text: `/** The form; \`problem\` is what the API found missing. */
export function entryForm(problem) {
  const words = problem === undefined ? '' : \`<p>\${problem.field} \${problem.says}</p>\`;
  return \`<form>\${words}<input name="name"><textarea name="message"></textarea></form>\`;
}
`,
            },
          },
          send('tester', 'component_ready', {
            component: 'entryForm',
            path: 'src/components/entry-form.js',
            testable: true,
            props: ['problem'],
          }),
        ],
      },
    ],
  },
  tester: {
    tasks: [
      {
        subject: 'Test the health and the screens',
        steps: [
          thinks(2),
          { write: { path: 'tests/health.test.js', text: HEALTH_TESTS } },
          { write: { path: 'tests/screens.test.js', text: SCREEN_TESTS } },
        ],
      },
      {
        subject: 'Test the signing',
        steps: [thinks(5), { write: { path: 'tests/sign.test.js', text: SIGN_TESTS } }],
      },
    ],
  },
  quality: {
    tasks: [
      {
        subject: 'Verify the quality',
        steps: [
          thinks(1),
          send('team-lead', 'quality_gate_passed', {
            trust5Score: 4.8,
            securityIssues: 0,
            performanceScore: 'A',
            recommendation: 'Merge it.',
          }),
        ],
      },
    ],
  },
};
