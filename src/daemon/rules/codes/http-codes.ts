// Codes of the status server.

import { codes } from '../../../base/rules/codes.ts';

export const HTTP_CODES = codes({
  port_in_use: {
    kind: 'port_in_use',
    message: 'Port {port} on {host} is in use.',
    help: 'Use --port <n>, or set server.port: 0.',
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
    values: { allowed: 'list' },
    may: { got: 'text' },
  },
  foreign_origin: {
    kind: 'refused',
    message: 'Expected a request of the page of this server, got Origin {origin}.',
    values: { origin: 'text' },
  },
  not_found: {
    kind: 'refused',
    message: 'There is nothing at {path}.',
    values: { path: 'text', known: 'list' },
  },
  method_not_allowed: {
    kind: 'refused',
    message: '{path} takes {allow}, got {method}.',
    values: { path: 'text', allow: 'text', method: 'text' },
  },
  unsupported_media_type: {
    kind: 'refused',
    message: 'Expected {expected}, got {got}.',
    values: { expected: 'text' },
    may: { got: 'text' },
  },
  too_large: {
    kind: 'refused',
    message: 'Expected at most {limit} bytes.',
    values: { limit: 'number' },
  },
  unauthorized: {
    kind: 'refused',
    message: 'Expected the {key} of this server.',
    help: 'Send the header Authorization: Bearer <token>.',
    values: { key: ['server.token', 'TOOL_KEY'] },
  },
  bad_request: {
    kind: 'refused',
    message: '{parameter}: expected {expected}, got {got}.',
    values: { parameter: 'text', expected: 'text', got: 'text' },
  },
});
