// Reference answers for sample features of three repositories, from an expert's view; written before the first run.

export type Answer = {
  readonly name: string;
  readonly text: string;
  readonly domains: readonly string[];
  /** Minimum and maximum number of files. */
  readonly files: readonly [number, number];
  readonly critical: 'payment' | 'authentication' | 'user data' | null;
  readonly pattern: string;
  /** Execution mode without a flag, if every prerequisite holds. */
  readonly mode: 'team' | 'subagent';
};

const REALWORLD: readonly Answer[] = [
  {
    name: 'a detail of one list',
    text: 'Show the date of each transaction item in the time zone of the reader',
    domains: ['frontend'],
    files: [1, 8],
    critical: null,
    pattern: 'implementation',
    mode: 'subagent',
  },
  {
    name: 'a field through all layers',
    text: `Users can give each bank account a nickname.
- The API shall accept and store a nickname of at most 40 characters for a bank account.
- The bank account form shall have a field for the nickname.
- The bank account list shall show the nickname beside the name of the bank.
- API tests and UI tests cover both.`,
    domains: ['backend', 'database', 'frontend', 'tests'],
    files: [8, 18],
    critical: null,
    pattern: 'implementation',
    mode: 'team',
  },
  {
    name: 'another way to sign in',
    text: 'Let people sign in with their GitHub account: an OAuth callback on the server, a button on the sign-in form, and the session kept in a cookie.',
    domains: ['backend', 'frontend', 'security'],
    files: [5, 18],
    critical: 'authentication',
    pattern: 'quality_gate',
    mode: 'team',
  },
  {
    name: 'a newer runtime',
    text: 'Update the Docker image and the CI workflows to Node 22',
    domains: ['infrastructure'],
    files: [2, 7],
    critical: null,
    pattern: 'implementation',
    mode: 'subagent',
  },
  {
    name: 'a feature that reaches everywhere',
    text: `A person can block another person.
- A blocked person shall not see the transactions, comments or likes of the one who blocked them.
- The API shall refuse a new transaction, comment or like between the two with 403.
- The user settings form shall list blocked people and let them be unblocked.
- The transaction feed, the user search and the notifications shall leave out blocked people.
- Contacts shall lose a person who is blocked.
- Blocks shall be stored in the database with both user ids.
- The seed data shall contain two blocks.
- API tests cover every refusal; UI tests cover settings, feed and search.`,
    domains: ['backend', 'database', 'frontend', 'tests'],
    files: [21, 60],
    critical: null,
    pattern: 'quality_gate',
    mode: 'team',
  },
];

const DJANGOPROJECT: readonly Answer[] = [
  {
    name: 'another way to pay',
    text: `Donors can pay by SEPA direct debit besides cards.
- When a donor chooses SEPA, the donation form shall ask for an IBAN.
- The Stripe webhook shall record a payment only when it has succeeded.
- Payments shall store their method.
- A failed payment shall send the donor an e-mail.`,
    domains: ['backend', 'database', 'frontend'],
    files: [8, 20],
    critical: 'payment',
    pattern: 'quality_gate',
    mode: 'team',
  },
  {
    name: 'a flag of an entry',
    text: 'Blog entries can be pinned: the model stores it, editors pin an entry in the admin, and pinned entries stand above the others on the archive page.',
    domains: ['backend', 'database', 'frontend'],
    files: [5, 18],
    critical: null,
    pattern: 'implementation',
    mode: 'team',
  },
  {
    name: 'a typo',
    text: "Fix the typo in the dark mode switch: its label says 'Swich'",
    domains: ['frontend'],
    files: [1, 4],
    critical: null,
    pattern: 'implementation',
    mode: 'subagent',
  },
  {
    name: 'a limit in one command',
    text: 'Delete unactivated user accounts after 30 days instead of 60',
    domains: ['backend'],
    files: [1, 6],
    critical: 'user data',
    pattern: 'quality_gate',
    mode: 'subagent',
  },
  {
    name: 'an app that is called docs',
    text: `The search in the docs shall rank by version.
- The search vector of a document shall weigh titles above bodies.
- Results for old versions shall come last.
- The command update_index shall work in batches.`,
    domains: ['backend', 'database'],
    files: [3, 9],
    critical: null,
    pattern: 'implementation',
    mode: 'subagent',
  },
];

const FASTIFY: readonly Answer[] = [
  {
    name: 'an option of one mechanism',
    text: 'Hooks may be given a time limit: a hook that takes longer than hookTimeout ends with the error FST_ERR_HOOK_TIMEOUT',
    domains: ['core'],
    files: [4, 18],
    critical: null,
    pattern: 'implementation',
    mode: 'subagent',
  },
  {
    name: 'a page',
    text: 'Describe the request lifecycle again in docs/Reference/Lifecycle.md and link it from docs/Reference/Hooks.md',
    domains: ['documentation'],
    files: [2, 4],
    critical: null,
    pattern: 'implementation',
    mode: 'subagent',
  },
  {
    name: 'words of logging that sound like logging in',
    text: 'Let the logger write the id of the user with each request when a serializer is set',
    domains: ['core'],
    files: [2, 9],
    critical: null,
    pattern: 'implementation',
    mode: 'subagent',
  },
  {
    name: 'words of areas that are not there',
    text: 'The server shall expose a route to the frontend team with the database schema and the UI components of the payment page',
    domains: ['core'],
    files: [1, 18],
    critical: null,
    pattern: 'implementation',
    mode: 'subagent',
  },
  {
    name: 'a break through the whole library',
    text: `Remove callbacks everywhere.
- Content type parsers shall take only async functions.
- Hooks shall take only async functions.
- Plugins shall be registered only as async functions.
- The compilers of the schema controller shall be async.
- Decorators of request and reply stay as they are.
- The types shall follow, and every page under docs/Reference/** that shows a callback.
- The tests of hooks, plugins, parsers and schemas shall no longer use callbacks.`,
    domains: ['core', 'documentation', 'tests'],
    files: [21, 80],
    critical: null,
    pattern: 'quality_gate',
    mode: 'team',
  },
];

/** Keyed by the name of the listing in test/fixtures/repositories. */
export const ANSWERS: Readonly<Record<string, readonly Answer[]>> = {
  'realworld-app': REALWORLD,
  djangoproject: DJANGOPROJECT,
  fastify: FASTIFY,
};
