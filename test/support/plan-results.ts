// Sample results of the three roles of a planning team, for a small feature.

export const ANALYST = `> So that a shared computer is safe.

## Requirements

- R1: When a user logs out, the API shall end the session.
- R2: The page shall show a button to log out.

## Out of scope

- Logging out everywhere

## Acceptance

- A1 (R1): Given a session, when its user logs out, then it is gone.
- A2 (R2): Given a user, when the page is shown, then there is a button.

## Questions

- Does it end all sessions?
`;

export const ARCHITECT = `One endpoint. A cookie that expires was not taken: it can be copied.

## T1: End the session

Answers 204.

- files: \`src/api/logout.js\`
- owner: backend-dev
- domain: backend
- depends on: none
- requirements: R1

## T2: Show the button

- files: \`src/pages/account.js\`
- domain: frontend
- depends on: T1
- requirements: R2

## Risks

- A session that is already gone.
`;

export const RESEARCHER = `- files: \`src/api/session.js\`: sessions are rows
- convention: one file for each endpoint
`;
