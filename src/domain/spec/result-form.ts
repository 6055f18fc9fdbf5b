// The form in which each of a planning team gives its result: that of the documents, so that code can put them together.

export const RESULT_FORMS: Readonly<Record<string, readonly string[]>> = {
  researcher: [
    '- files: `<path>`, `<path>`: what is in them that matters',
    '- convention: how this project does such things, with the path that shows it',
    '- risk: what could go wrong, and how it would be noticed',
  ],
  analyst: [
    '> What it is for, in a sentence or two.',
    '',
    '## Requirements',
    '',
    '- R1: When <trigger>, the <system> shall <response>.',
    '- R2: If <condition>, then the <system> shall <response>.',
    '',
    '## Out of scope',
    '',
    '- <what it is not about>',
    '',
    '## Acceptance',
    '',
    '- A1 (R1): Given <state>, when <event>, then <outcome>.',
    '- A2 (R2): Given <state>, when <event>, then <outcome>.',
    '',
    '## Questions',
    '',
    '- <what only the user can say; leave the heading out where there is nothing>',
  ],
  architect: [
    '> The design, and why not otherwise.',
    '',
    '## T1: <what is to be done>',
    '',
    '> More about it, where that is needed.',
    '',
    '- files: `<path>`, `<path>`',
    '- domain: <backend, frontend, database, security, tests, design, infrastructure, documentation or core>',
    '- owner: <a role like backend-dev; leave it out where the files say it>',
    '- depends on: <T2, or none>',
    '- requirements: <R1, R2: the numbers that analyst gives them>',
  ],
};

/** So many characters fit into a result. */
export const RESULT_MAX = 100_000;
