// Codes of the hosting service.

import { codes } from '../../../base/rules/codes.ts';

export const GITHUB_CODES = codes({
  certificate_file_invalid: {
    kind: 'config',
    message: '{name}: expected a file with PEM certificates, got {got}.',
    help: 'Name the PEM file of the authority of the hosting service.',
    values: { name: 'text', got: 'text' },
  },
  proxy_refused_tunnel: {
    kind: 'tracker',
    message: 'The proxy made no tunnel: {said}',
    help: 'Correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY.',
    values: { said: 'text' },
  },
  tracker_unavailable: {
    kind: 'tracker',
    message: 'The hosting service gave no usable answer to {request}: {said}',
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
    help: 'Run gh auth status.',
    values: { said: 'text' },
  },
  tracker_refused: {
    kind: 'tracker',
    message: 'The hosting service answered {status}: {said}',
    values: { status: 'number', said: 'text' },
  },
  repository_renamed: {
    kind: 'tracker',
    message: 'The repository {old} is called {new} now.',
    help: 'Set tracker.repo to {new}, and start again.',
    values: { old: 'text' },
    may: { new: 'text' },
  },
  repository_not_found: {
    kind: 'tracker',
    message: 'This token sees no repository {repository} (404).',
    help: 'Check tracker.repo, and what the token may read.',
    values: { repository: 'text' },
  },
  issue_moved: {
    kind: 'tracker',
    message: 'The issue is gone from {repository}: {said}',
    values: { repository: 'text', said: 'text' },
    may: { issue: 'number', location: 'text' },
  },
  token_missing: {
    kind: 'credential',
    message: 'There is no token for {host} in {variables}. gh auth status: {said}',
    help: 'Run gh auth login --hostname {host}, or set $GITHUB_TOKEN.',
    values: { host: 'text', variables: 'list', said: 'text' },
  },
  issue_not_publishable: {
    kind: 'warning',
    message: 'Issue #{issue} cannot be published ({step}): {said}',
    values: { issue: 'number', step: 'text', said: 'text' },
    may: { retryAt: 'time' },
  },
});
