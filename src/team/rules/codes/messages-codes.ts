// Codes of messages, claims and inputs of operations.

import { codes } from '../../../base/rules/codes.ts';

export const MESSAGES_CODES = codes({
  parameter_missing: {
    kind: 'problem',
    message: '{field}: {operation} needs it; {describes}[ One of {known}.]',
    values: { field: 'text', operation: 'text', describes: 'text' },
    may: { known: 'list' },
  },
  parameter_unknown: {
    kind: 'problem',
    message: '{field}: {operation} takes no such parameter.',
    help: 'It takes {known}.',
    values: { field: 'text', operation: 'text', known: 'list' },
    may: { near: 'text' },
  },
  parameter_repeated: {
    kind: 'problem',
    message: '{field}: given twice, in two spellings.',
    values: { field: 'text' },
  },
  parameter_invalid: {
    kind: 'refused',
    message: '{field}: expected {expected}, got {got}.',
    values: { field: 'text', expected: 'text', got: 'text' },
    may: { near: 'text', known: 'list' },
  },
  recipient_unknown: {
    kind: 'problem',
    message: 'recipient: expected one of {known}, got {got}[, who has {ended}].',
    values: { known: 'list', got: 'text' },
    may: { near: 'text', ended: ['ended'] },
  },
  message_not_found: {
    kind: 'refused',
    message: 'in_reply_to: there is no message {message}.',
    values: { message: 'number' },
  },
  message_type_reserved: {
    kind: 'refused',
    message: '{type} is for {senders} to send, not for {from}.',
    values: { type: 'text', senders: 'list', from: 'text' },
  },
  message_route_unusual: {
    kind: 'warning',
    message: '{type} usually goes from {usual}, not from {from}[ to {to}].',
    values: { type: 'text', usual: 'text', from: 'text' },
    may: { to: 'text' },
  },
  request_for_own_file: {
    kind: 'refused',
    message: 'The file is your own.',
    help: 'Change it.',
  },
  request_to_wrong_owner: {
    kind: 'refused',
    message: "The file is {owner}'s.",
    help: 'Send the change_request to {owner}, not to {to}.',
    values: { owner: 'text', to: 'text' },
  },
  claim_not_measured_so: {
    kind: 'refused',
    message: '{type} claims {claimed}, but {measured}[, at the completion of task {task}].',
    help: 'Send the measured values. If the work has changed since, complete a task: that measures again. Then you can send the new values.',
    values: { type: 'text', field: 'text', claimed: 'text', measured: 'text' },
    may: { task: 'text' },
  },
  claim_not_compared: {
    kind: 'warning',
    message: '{field}: not compared, since {what} was not measured.',
    values: { field: 'text', what: 'text' },
  },
});
