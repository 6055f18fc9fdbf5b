// Further features of the three repositories, each answered before its first run.

import type { Answer } from './repository-answers.ts';

export const HELD_OUT: Readonly<Record<string, readonly Answer[]>> = {
  'realworld-app': [
    {
      name: 'a server-side limit',
      text: 'The API answers 422 when a comment is longer than 500 characters',
      domains: ['backend'],
      files: [1, 6],
      critical: null,
      pattern: 'implementation',
      mode: 'subagent',
    },
    {
      name: 'a notification by e-mail',
      text: `People get an e-mail for each notification.
- When a notification is made, the server shall send an e-mail through the SMTP service.
- The user settings form shall have a checkbox that turns e-mails off.
- The choice shall be stored with the user.
- API tests cover both choices.`,
      domains: ['backend', 'database', 'frontend', 'tests'],
      files: [6, 20],
      critical: null,
      pattern: 'implementation',
      mode: 'team',
    },
    {
      name: 'another look of the skeleton',
      text: 'The skeleton list keeps its height while transactions load, so that the page does not jump',
      domains: ['frontend'],
      files: [1, 5],
      critical: null,
      pattern: 'implementation',
      mode: 'subagent',
    },
  ],
  djangoproject: [
    {
      name: 'a longer password',
      text: 'Passwords shall have at least 12 characters: the registration form says so, and the login page asks people with a shorter one to change it',
      domains: ['backend', 'frontend', 'security'],
      files: [4, 14],
      critical: 'authentication',
      pattern: 'quality_gate',
      mode: 'team',
    },
    {
      name: 'a feed',
      text: 'The feed of the aggregator leaves out entries that are older than a year',
      domains: ['backend'],
      files: [1, 6],
      critical: null,
      pattern: 'implementation',
      mode: 'subagent',
    },
    {
      name: 'end of life on the download page',
      text: `The download page shows when the support of each release ends.
- The page shall list releases with their end-of-life date.
- A release without a date shall show "not yet known".
- The admin shall warn when a date lies before the release.`,
      domains: ['backend', 'frontend'],
      files: [3, 12],
      critical: null,
      pattern: 'implementation',
      mode: 'subagent',
    },
  ],
  fastify: [
    {
      name: 'a new error code',
      text: 'Throw FST_ERR_DECORATOR_NAME when a decorator has an empty name, with its entry in docs/Reference/Errors.md',
      domains: ['core', 'documentation'],
      files: [3, 9],
      critical: null,
      pattern: 'implementation',
      mode: 'subagent',
    },
    {
      name: 'types alone',
      text: 'The types of reply shall know trailers',
      domains: ['core'],
      files: [1, 6],
      critical: null,
      pattern: 'implementation',
      mode: 'subagent',
    },
    {
      name: 'a server over HTTP/2',
      text: 'The HTTP/2 server closes its sessions when the server closes',
      domains: ['core'],
      files: [1, 8],
      critical: null,
      pattern: 'implementation',
      mode: 'subagent',
    },
  ],
};

/** A last set, answered when the first two were settled. */
export const LAST: Readonly<Record<string, readonly Answer[]>> = {
  'realworld-app': [
    {
      name: 'amounts in another currency',
      text: `Transactions may be made in euros.
- The transaction form shall let people choose between dollars and euros in step two.
- The API shall validate the currency of a transaction.
- The transaction model shall store the currency.
- Transaction amounts shall be shown with their sign in lists and in the detail view.`,
      domains: ['backend', 'database', 'frontend'],
      files: [6, 20],
      critical: null,
      pattern: 'implementation',
      mode: 'team',
    },
    {
      name: 'forgotten passwords',
      text: 'A person who forgot the password gets a link by e-mail: the server makes a token, the sign-in page offers the link, a new page takes the new password',
      domains: ['backend', 'frontend', 'security'],
      files: [4, 15],
      critical: 'authentication',
      pattern: 'quality_gate',
      mode: 'team',
    },
  ],
  djangoproject: [
    {
      name: 'a badge of heroes',
      text: 'The list of Django heroes on the fundraising page shows a badge for those who have given for more than five years',
      domains: ['frontend'],
      files: [1, 7],
      critical: null,
      pattern: 'implementation',
      mode: 'subagent',
    },
    {
      name: 'spam of the contact form',
      text: 'The contact form refuses messages with more than three links',
      domains: ['backend'],
      files: [1, 4],
      critical: null,
      pattern: 'implementation',
      mode: 'subagent',
    },
  ],
  fastify: [
    {
      name: 'an async content type parser',
      text: 'A content type parser that throws synchronously ends in the error handler, not in a crash',
      domains: ['core'],
      files: [1, 8],
      critical: null,
      pattern: 'implementation',
      mode: 'subagent',
    },
    {
      name: 'a new guide',
      text: 'Write a guide docs/Guides/Caching.md about caching replies, and list it in docs/Guides/Index.md',
      domains: ['documentation'],
      files: [2, 4],
      critical: null,
      pattern: 'implementation',
      mode: 'subagent',
    },
  ],
};
