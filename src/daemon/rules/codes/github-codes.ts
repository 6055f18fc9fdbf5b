// Codes of the hosting service.

import { codes } from '../../../base/rules/codes.ts';

export const GITHUB_CODES = codes({
  certificate_file_invalid: {
    kind: 'config',
    message: '{name}: expected a file with PEM certificates (-----BEGIN CERTIFICATE-----), got {path}: {why}.',
    help: 'Name the file of the authority that signs the certificate of the hosting service.',
    values: { name: 'text', path: 'text', why: 'text' },
  },
  proxy_refused_tunnel: {
    kind: 'tracker',
    message: 'The proxy made no tunnel: {said}',
    values: { said: 'text' },
  },
  proxy_rejected_user: {
    kind: 'tracker',
    message: 'The proxy made no tunnel: it answered 407.',
    help: 'Check the user and the password in HTTPS_PROXY or HTTP_PROXY.',
  },
  tracker_unavailable: {
    kind: 'tracker',
    message: 'The hosting service gave no usable answer[ to {request}]: {said}',
    values: { said: 'text' },
    may: { request: 'text', status: 'number' },
  },
  tracker_paused: {
    kind: 'tracker',
    message: 'The hosting service limits requests: {why}. The next request is at {until}.',
    values: { why: 'text', until: 'time' },
  },
  tracker_unauthorized: {
    kind: 'tracker',
    message: 'The hosting service rejected the credential (401): {said}',
    values: { said: 'text' },
  },
  tracker_refused: {
    kind: 'tracker',
    message: 'The hosting service answered {status}: {said}',
    values: { status: 'number', said: 'text' },
  },
  repository_renamed: {
    kind: 'tracker',
    message: 'The repository {old} has another name now[: {new}].',
    help: 'Set tracker.repo to the new name, and start again.',
    values: { old: 'text' },
    may: { new: 'text' },
  },
  repository_not_found: {
    kind: 'tracker',
    message: 'There is no repository {repository} for this token (404).',
    help: 'Check tracker.repo, and what the token may read.',
    values: { repository: 'text' },
  },
  issue_moved: {
    kind: 'tracker',
    message: 'It is gone from {repository}: {said}',
    values: { repository: 'text', said: 'text' },
  },
  review_thread_gone: {
    kind: 'tracker',
    message: 'The thread {thread} of the pull request #{pull_request} is gone.',
    values: { thread: 'number', pull_request: 'number' },
  },
  token_missing: {
    kind: 'credential',
    message: 'There is no token for {host} in {variables}, and gh auth status says: {said}.',
    help: 'Run `gh auth login --hostname {host}`, set one of these variables, or name another one in tracker.token.',
    values: { host: 'text', variables: 'list', said: 'text' },
  },
});
