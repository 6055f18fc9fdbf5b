// The section `tracker` of WORKFLOW.md: its shape.

import * as z from 'zod';
import { parseSlug } from '../../git/rules/repository.ts';
import { OWN_SETTINGS } from '../rules/own-file.ts';
import { parsePattern } from '../rules/repositories.ts';
import { DEFAULT_TRACKER, TRACKER_KINDS } from '../rules/tracker-kind.ts';

const text = z.string().min(1);

/** One, or a list of some. */
export const labels = z.union([text.transform((label) => [label]), z.array(text).min(1)]);

const repositories = text.refine((one) => parsePattern(one) !== undefined, {
  message: 'slugs <owner>/<repo>, or <owner>/*',
});

export const tracker = z
  .strictObject({
    kind: z.enum(TRACKER_KINDS).default(DEFAULT_TRACKER).describe('The hosting service.'),
    repo: text
      .refine((slug) => parseSlug(slug) !== undefined, { message: 'a slug <owner>/<repo>' })
      .optional()
      .describe(
        '<owner>/<repo>; without it, read from the Git remote of the directory that holds this file, which must be on the host of tracker.api_url.',
      ),
    repositories: z
      .union([repositories.transform((one) => [one]), z.array(repositories).min(1)])
      .optional()
      .describe(
        'Many repositories in place of tracker.repo: <owner>/<repo>, or <owner>/* for all of an owner that the token can read and that are not archived.',
      ),
    topic: text
      .regex(/^[a-z0-9][a-z0-9-]*$/, { message: 'a topic in lower case' })
      .optional()
      .describe('Of <owner>/*, only repositories with this topic.'),
    api_url: z
      .url({ protocol: /^https?$/, message: 'an http(s) address' })
      .default('https://api.github.com')
      .describe('Base address of the REST API; a GitHub Enterprise server has one of its own, https://<host>/api/v3.'),
    token: z
      .string()
      .regex(/^\$[A-Za-z_][A-Za-z0-9_]*$/, {
        message: 'the name of an environment variable, like $MY_TOKEN (a token itself must not stand in a file)',
      })
      .optional()
      .describe(
        '$NAME of the environment variable with the token; without it $GITHUB_TOKEN, $GH_TOKEN (for an enterprise host $GH_ENTERPRISE_TOKEN and $GITHUB_ENTERPRISE_TOKEN before them), then the login of the hosting client.',
      ),
    app_id: z
      .union([
        z.int().positive().transform(String),
        z.string().regex(/^(?:[1-9]\d*|Iv[\w.]+)$/, 'the number of an App, or its client ID'),
      ])
      .optional()
      .describe('App ID (or client ID) of a GitHub App, whose tokens are used in place of tracker.token.'),
    private_key: text
      .refine((key) => !key.includes('PRIVATE KEY'), {
        message: 'a path, or $NAME of an environment variable (a key itself must not stand in a file)',
      })
      .optional()
      .describe(
        'Private key of the App: $NAME of the environment variable with its PEM text, or a path to its file. In a path ~ and $VAR are expanded; relative to this file.',
      ),
    ca_file: text
      .optional()
      .describe(
        'PEM file with the authority that signs the certificate of the hosting service or of the proxy, for the API and git; NODE_EXTRA_CA_CERTS does the same. ~ and $VAR are expanded; relative to this file.',
      ),
    active_states: labels
      .optional()
      .describe('Labels that mark an issue as work to pick up; any of them does. Default: tool-todo.'),
    done_label: text.default('tool-done').describe('The label an issue gets when its pull request is open.'),
    failed_label: text.default('tool-failed').describe('The label an issue gets when the last attempt has failed.'),
    question_label: text
      .default('tool-question')
      .describe('The label an issue has while its agent waits for an answer of people.'),
    trust: z
      .enum(['write', 'anyone'])
      .default('write')
      .describe(
        'Who may set work going. write: the issue is taken only if its author and whoever put the active label on it may write to the repository.',
      ),
    draft: z.boolean().default(false).describe('Open pull requests as drafts.'),
    repository_workflow: z
      .array(z.enum(OWN_SETTINGS))
      .default([])
      .describe(
        "Settings that a repository's own WORKFLOW.md on its default branch may make in place of those here; labels stands for all that follow it. Default: none, and the file is not read.",
      ),
  })
  .prefault({});
