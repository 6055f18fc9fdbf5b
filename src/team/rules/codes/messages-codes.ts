// Codes of messages, claims and inputs of operations.

import { codes } from '../../../base/rules/codes.ts';

export const MESSAGES_CODES = codes({
  parameter_missing: {
    kind: 'problem',
    message: '{field}: {operation} needs it; {describes}',
    values: { field: 'text', operation: 'text', describes: 'text', known: 'list' },
  },
  parameter_unknown: {
    kind: 'problem',
    message: '{field}: {operation} takes no such parameter.',
    help: 'It takes {known}.',
    values: { field: 'text', operation: 'text', known: 'list' },
    may: { near: 'text' },
  },
  parameter_invalid: {
    kind: 'refused',
    message: '{field}: expected {expected}, got {got}.',
    values: { field: 'text', expected: 'text', got: 'text' },
    may: { near: 'text', known: 'list' },
  },
  message_type_reserved: {
    kind: 'refused',
    message: '{type} is for {senders} to send, not for {from}.',
    values: { type: 'text', senders: 'list', from: 'text' },
  },
  message_route_unusual: {
    kind: 'warning',
    message: '{type} usually goes from {usual}, not from {from} to {to}.',
    values: { type: 'text', usual: 'text', from: 'text', to: 'text' },
  },
  claim_not_measured_so: {
    kind: 'refused',
    message: '{type} claims {field} {claimed}, but {measured} was measured ({source}).',
    help: 'Send the measured values. After further work, complete a task first.',
    values: { type: 'text', field: 'text', claimed: 'number', measured: 'text', source: 'text' },
    may: { task: 'text' },
  },
  claim_not_compared: {
    kind: 'warning',
    message: '{field}: not compared, because {what} was not measured.',
    values: { field: 'text', what: 'text' },
  },
});
