// A SPEC whose documents are as they should be.

import type { NewSpec } from '../../src/team/rules/spec-documents/new-spec.ts';

export const SPEC_ID = 'SPEC-LOGIN-001';

export const SPEC_TEXT = `---
id: SPEC-LOGIN-001
title: Users log in with their address
status: draft
created: 2026-01-30
updated: 2026-01-31
---

# Users log in with their address

> So that nobody has to remember a name.

## Requirements

- R1: The system shall keep passwords only as salted hashes.
- R2: When a user sends a known address, the system shall open a session of 12 hours.
- R3: While an account is locked, the system shall refuse every login to it.
- R4: Where single sign-on is configured, the system shall offer it first.
- R5: If a password is wrong five times, then the system shall lock the account
  for an hour.

## Out of scope

- Second factors.
`;

export const PLAN_TEXT = `# Plan

> Sessions are rows.
>
> Cookies were not taken: they cannot be ended.

## T1: Open a session

> The hash is made once.

- files: \`src/api/login.ts\`, \`src/models/user.ts\`
- depends on: none
- domain: backend
- requirements: R1, R3, R5
## T2: Show the form

> Two fields and a button.

- files: \`src/pages/{login,out}.tsx\`, \`src/components/form.tsx\`
- domain: frontend
- owner: frontend-dev
- depends on: T1
- requirements: R2, R4
`;

export const ACCEPTANCE_TEXT = `# Acceptance

- A1 (R2):
  Given a user with a password
  When they log in with it
  And the account is open
  Then a session of 12 hours is open

- A2 (R5): Given four wrong tries, when a fifth is wrong,
  then the account is locked for an hour.
- A3 (R1, R3, R4): Given a user, when they log in, then it is seen.
`;

/** A small SPEC as data: three requirements, two tasks, three scenarios. */
export const NEW_SPEC: NewSpec = {
  feature: 'Users can log out of their account',
  title: 'Users log out',
  status: 'awaiting_approval',
  about: 'So that a shared computer is safe.',
  requirements: [
    { id: 'R1', text: 'When a user logs out, the API shall end the session.' },
    { id: 'R2', text: 'The page shall show a button to log out.' },
    { id: 'R3', text: 'If there is no session, then the API shall answer 204.' },
  ],
  outOfScope: ['Logging out everywhere'],
  design: 'One endpoint, one button.',
  tasks: [
    {
      id: 'T1',
      subject: 'End the session',
      description: '',
      files: ['src/api/logout.js'],
      domain: 'backend',
      owner: 'backend-dev',
      dependsOn: [],
      requirements: ['R1', 'R3'],
    },
    {
      id: 'T2',
      subject: 'Show the button',
      description: 'Top right.',
      files: ['src/pages/**'],
      domain: 'frontend',
      owner: null,
      dependsOn: ['T1'],
      requirements: ['R2'],
    },
  ],
  scenarios: [
    { id: 'A1', requirements: ['R1'], given: ['a session'], when: ['it is ended'], outcomes: ['it is gone'] },
    { id: 'A2', requirements: ['R2'], given: ['the page'], when: ['it is shown'], outcomes: ['a button is there'] },
    { id: 'A3', requirements: ['R3'], given: ['no session'], when: ['it is ended'], outcomes: ['204 is answered'] },
  ],
};
