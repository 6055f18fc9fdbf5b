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
  owner_without_repositories: {
    kind: 'tracker',
    message: 'The token can read no repository of {owner} that is not archived[ and has the topic {topic}].',
    help: 'Check tracker.repositories, tracker.topic, and what the token may read.',
    values: { owner: 'text' },
    may: { topic: 'text' },
  },
  repository_not_found: {
    kind: 'tracker',
    message: 'There is no repository {repository} for this token (404).',
    help: 'Check tracker.repo or tracker.repositories, and what the token may read.',
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
  app_key_unreadable: {
    kind: 'credential',
    message: '{key}: {path} cannot be read: {said}',
    help: 'Name a file that this user can read, or $NAME of an environment variable that holds the key.',
    values: { key: 'text', path: 'text', said: 'text' },
  },
  app_key_invalid: {
    kind: 'credential',
    message: '{key}: expected an RSA key in PEM (-----BEGIN RSA PRIVATE KEY-----) in {source}, got {got}.',
    help: 'Generate a private key in the settings of the App, and take the whole file. A variable has newlines, or \\n in place of each: systemd and shells keep that only in quotes.',
    values: { key: 'text', source: 'text', got: 'text' },
  },
  app_unknown: {
    kind: 'credential',
    message: '{key}: the hosting service knows no App {id} with this key: {said}',
    help: 'Compare tracker.app_id with the App ID in the settings of the App, and check that tracker.private_key is its key.',
    values: { key: 'text', id: 'text', said: 'text' },
  },
  app_not_installed: {
    kind: 'credential',
    message: '{key}: the App {app} is not installed on {repository}.',
    help: 'Install it there, or name another repository in tracker.repo or tracker.repositories.',
    values: { key: 'text', app: 'text', repository: 'text' },
  },
  app_suspended: {
    kind: 'credential',
    message: '{key}: the installation of the App {app} on {repository} is suspended.',
    help: 'End the suspension in the settings of the owner of the repository.',
    values: { key: 'text', app: 'text', repository: 'text' },
  },
  app_unreachable: {
    kind: 'credential',
    message: '{key}: the hosting service made no token for the App: {said}',
    help: 'Check tracker.api_url and the route to the service, then start again.',
    values: { key: 'text', said: 'text' },
  },
  app_token_not_renewed: {
    kind: 'warning',
    message: 'The token of {app} is valid for another {minutes} minutes and cannot be renewed: {said}',
    help: 'The daemon tries again every minute.',
    values: { app: 'text', said: 'text', minutes: 'number' },
  },
  app_token_refused: {
    kind: 'tracker',
    message: 'The hosting service makes no further token for {app}: {said}',
    values: { app: 'text', said: 'text' },
  },
  token_missing: {
    kind: 'credential',
    message: 'There is no token for {host} in {variables}, and gh auth status says: {said}.',
    help: 'Run `gh auth login --hostname {host}`, set one of these variables, or name another one in tracker.token.',
    values: { host: 'text', variables: 'list', said: 'text' },
  },
});
