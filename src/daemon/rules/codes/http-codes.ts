// Codes of the status server.

import { codes } from '../../../base/rules/codes.ts';

export const HTTP_CODES = codes({
  port_in_use: {
    kind: 'port_in_use',
    message: 'Port {port} on {host} is in use.',
    help: 'Take another one with --port <n>, or switch the status server off with server.port: 0.',
    values: { port: 'number', host: 'text' },
  },
  listen_failed: {
    kind: 'config',
    message: 'Cannot listen on {host}:{port}: {said}',
    values: { host: 'text', port: 'number', said: 'text' },
  },
  foreign_host: {
    kind: 'refused',
    message: 'Expected a Host of this server ({allowed}), got {got}.',
    help: 'Add the name to server.allowed_hosts.',
    values: { allowed: 'list', got: 'text' },
  },
  foreign_origin: {
    kind: 'refused',
    message: "Expected a request of this server's own page, got Origin {origin}.",
    values: { origin: 'text' },
  },
  not_found: {
    kind: 'refused',
    message: 'There is nothing at {path}.',
    values: { path: 'text' },
  },
  issue_number_invalid: {
    kind: 'refused',
    message: "Expected an issue's number, got {got}.",
    values: { got: 'text' },
  },
  issue_unknown: {
    kind: 'refused',
    message: 'The daemon knows nothing of issue #{issue}.',
    values: { issue: 'number' },
  },
  issue_page_unread: {
    kind: 'warning',
    message: 'The page of issue #{issue} stays as it was: {said}',
    values: { issue: 'number', said: 'text' },
  },
  output_missing: {
    kind: 'refused',
    message: 'There is no such output of issue #{issue}.',
    help: 'GET /api/v1/issues/{issue}/output gives the newest one that is kept.',
    values: { issue: 'number' },
  },
  team_unlisted: {
    kind: 'refused',
    message: 'There is no team {team} at work or lately finished[; there is {known}].',
    values: { team: 'text' },
    may: { known: 'list' },
  },
  method_not_allowed: {
    kind: 'refused',
    message: '{path} takes {allow}, got {method}.',
    values: { path: 'text', allow: 'text', method: 'text' },
  },
  unsupported_media_type: {
    kind: 'refused',
    message: 'Expected {expected}, got {got}.',
    values: { expected: 'text', got: 'text' },
  },
  too_large: {
    kind: 'refused',
    message: 'Expected at most {limit} bytes.',
    values: { limit: 'number' },
  },
  unauthorized: {
    kind: 'refused',
    message: 'Expected the token of server.token.',
    help: 'Send it in the header Authorization: Bearer <token>.',
  },
  socket_request_unknown: {
    kind: 'refused',
    message: 'Expected POST /v1, got {method} {path}.',
    values: { method: 'text', path: 'text' },
  },
  attempt_key_wrong: {
    kind: 'refused',
    message: 'This socket belongs to another attempt: its key is not the one in TOOL_KEY.',
  },
  control_key_wrong: {
    kind: 'refused',
    message: 'Expected the key of this daemon, from {file} in its state directory.',
    values: { file: 'text' },
  },
  steering_locked: {
    kind: 'refused',
    message: 'Commands on issues are closed, because server.token is not set.',
    help: 'Set server.token, or use tool {command} on the machine of the daemon.',
    values: { command: 'text' },
  },
  webhook_unsigned: {
    kind: 'refused',
    message: 'Expected a header X-Hub-Signature-256 with sha256=<64 hexadecimal digits>, got {got}.',
    help: 'Enter the value of server.webhook_secret as the secret of the webhook.',
    values: { got: 'text' },
  },
  webhook_forged: {
    kind: 'refused',
    message: 'The signature does not fit the body.',
    help: 'Enter the value of server.webhook_secret as the secret of the webhook. A proxy must not change the body.',
  },
  webhook_busy: {
    kind: 'refused',
    message: 'Too many large deliveries come at once.',
  },
  webhook_refused: {
    kind: 'warning',
    message: 'A delivery from {from} was refused: {said}',
    values: { from: 'text', said: 'text' },
  },
  webhook_known: {
    kind: 'warning',
    message: 'Delivery {id} came before, and was dropped.',
    values: { id: 'text' },
  },
  webhook_elsewhere: {
    kind: 'warning',
    message: 'A delivery was ignored: expected one for {repository}, got one for {got}.',
    help: 'Set up the webhook where tracker.repo or tracker.repositories says.',
    values: { repository: 'text', got: 'text' },
  },
  bad_request: {
    kind: 'refused',
    message: '{parameter}: expected {expected}, got {got}.',
    values: { parameter: 'text', expected: 'text', got: 'text' },
  },
});
