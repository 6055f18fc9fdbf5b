// One small feature in a project of each language: what is there, what its planners give, and what its builders write.

import type { TeammateScript } from '../../src/cli/agents/agent-teammate.ts';
import { LEAD } from './played-agents.ts';

export const SPEC = 'SPEC-LOG-OUT-ACCOUNT-001';

type Tree = Readonly<Record<string, string>>;
type Written = { readonly api: string; readonly page: string; readonly tests: string };

type Sample = {
  readonly files: Tree;
  readonly planners: TeammateScript;
  readonly builders: TeammateScript;
};

const RESEARCHER = '- files: `src/api/`: sessions are rows\n';

const ANALYST = `> So that a shared computer is safe.

## Requirements

- R1: When a user logs out, the API shall end the session.
- R2: The page shall show a button to log out.

## Out of scope

- Logging out everywhere

## Acceptance

- A1 (R1): Given a session, when its user logs out, then it is gone.
- A2 (R2): Given a user, when the page is shown, then there is a button.
`;

const architect = ({
  api,
  page,
  tests,
}: Written) => `> One function. A cookie that expires was not taken: it can be copied.

## T1: End the session

- files: \`${api}\`
- domain: backend
- owner: backend-dev
- depends on: none
- requirements: R1

## T2: Show the button

- files: \`${page}\`
- domain: frontend
- owner: frontend-dev
- depends on: none
- requirements: R2

## T3: Decide both by tests

- files: \`${tests}\`
- domain: tests
- owner: tester
- depends on: T1, T2
- requirements: R1, R2
`;

/** @param paths of what is written; @param texts of the same */
function sample(files: Tree, paths: Written, texts: Written): Sample {
  const written = (subject: string, part: keyof Written) => ({
    tasks: [{ subject, steps: [{ write: { path: paths[part], text: texts[part] } }] }],
  });
  const verdict = { trust5Score: 4.8, securityIssues: 0, performanceScore: 'A', recommendation: 'Merge it.' };
  const message = { recipient: LEAD, type: 'quality_gate_passed', content: verdict };
  return {
    files,
    planners: {
      researcher: { tasks: [{ subject: 'Explore', steps: [], result: RESEARCHER }] },
      analyst: { tasks: [{ subject: 'Write the requirements', steps: [], result: ANALYST }] },
      architect: { tasks: [{ subject: 'Design the solution', steps: [], result: architect(paths) }] },
    },
    builders: {
      'backend-dev': written('End the session', 'api'),
      'frontend-dev': written('Show the button', 'page'),
      tester: written('Decide both', 'tests'),
      quality: {
        tasks: [{ subject: 'Verify the quality', steps: [{ call: { tool: 'SendMessage', input: message } }] }],
      },
    },
  };
}

const IGNORED = '.tool/teams/\n.tool/state/\n.tool/cache/\n.tool/worktrees/\n';

const MANIFEST = { name: 'shop', private: true, type: 'module' };
const ACCOUNT = (html: string) => `export const account = () => "${html}";\n`;
const IMPORTS = "import assert from 'node:assert/strict';\nimport test from 'node:test';\n";

export const JAVASCRIPT = sample(
  {
    'package.json': `${JSON.stringify({ ...MANIFEST, scripts: { test: 'node --test' } })}\n`,
    '.gitignore': `node_modules/\n${IGNORED}`,
    'src/api/session.js': 'export const sessions = new Map();\n',
    'src/pages/account.js': ACCOUNT('<h1>Account</h1>'),
    'tests/account.test.js': `${IMPORTS}import { account } from '../src/pages/account.js';

test('there is a page', () => assert.match(account(), /Account/));
`,
  },
  { api: 'src/api/logout.js', page: 'src/pages/account.js', tests: 'tests/logout.test.js' },
  {
    api: `import { sessions } from './session.js';

export const logout = (id) => sessions.delete(id);
`,
    page: ACCOUNT('<h1>Account</h1><button>Log out</button>'),
    tests: `// ${SPEC}
${IMPORTS}import { logout } from '../src/api/logout.js';
import { sessions } from '../src/api/session.js';
import { account } from '../src/pages/account.js';

test('R1, A1: the session is gone', () => {
  sessions.set('7', 'Ada');
  logout('7');
  assert.equal(sessions.size, 0);
});

test('R2, A2: there is a button', () => assert.match(account(), /<button>/));
`,
  },
);

const PAGE = (html: string) => `def account():\n    return "${html}"\n`;

export const PYTHON = sample(
  {
    'pyproject.toml': '[project]\nname = "shop"\nversion = "0.1.0"\n',
    '.gitignore': `.venv/\n__pycache__/\n${IGNORED}`,
    'shop/__init__.py': '',
    'shop/api/__init__.py': '',
    'shop/api/session.py': 'sessions = {}\n',
    'shop/pages/__init__.py': '',
    'shop/pages/account.py': PAGE('<h1>Account</h1>'),
    'tests/test_account.py': `import unittest

from shop.pages.account import account


class AccountTest(unittest.TestCase):
    def test_there_is_a_page(self):
        self.assertIn("Account", account())
`,
  },
  { api: 'shop/api/logout.py', page: 'shop/pages/account.py', tests: 'tests/test_logout.py' },
  {
    api: `from shop.api.session import sessions


def logout(id):
    return sessions.pop(id, None) is not None
`,
    page: PAGE('<h1>Account</h1><button>Log out</button>'),
    tests: `# ${SPEC}
import unittest

from shop.api.logout import logout
from shop.api.session import sessions
from shop.pages.account import account


class LogoutTest(unittest.TestCase):
    # R1, A1
    def test_the_session_is_gone(self):
        sessions["7"] = "Ada"
        self.assertTrue(logout("7"))
        self.assertEqual(sessions, {})

    # R2, A2
    def test_there_is_a_button(self):
        self.assertIn("<button>", account())
`,
  },
);
