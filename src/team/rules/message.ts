// Message types of a team: the fields of each type, the check of a message, and its senders and recipients.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { nearest } from '../../base/rules/nearest.ts';
import { got } from '../../base/rules/text.ts';
import { isObject } from '../../base/rules/values.ts';
import { MESSAGES_CODES } from './codes/messages-codes.ts';
import { agentOf, type RoleName } from './role.ts';

/** Kinds of field values, each with its description and its check. */
const KINDS = {
  text: { words: 'text', holds: (value: unknown) => typeof value === 'string' && value.trim() !== '' },
  route: {
    words: 'a method and a path, like "POST /api/users"',
    holds: (value: unknown) => typeof value === 'string' && /^[A-Z]+ \/\S*$/.test(value),
  },
  flag: { words: 'true or false', holds: (value: unknown) => typeof value === 'boolean' },
  number: { words: 'a number', holds: (value: unknown) => typeof value === 'number' && Number.isFinite(value) },
  percent: {
    words: 'a number from 0 to 100',
    holds: (value: unknown) => typeof value === 'number' && value >= 0 && value <= 100,
  },
  count: {
    words: 'a whole number of at least 0',
    holds: (value: unknown) => Number.isInteger(value) && Number(value) >= 0,
  },
  texts: {
    words: 'a list of texts',
    holds: (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  },
  types: {
    words: 'field names with the names of their types',
    holds: (value: unknown) => isObject(value) && Object.values(value).every((one) => typeof one === 'string'),
  },
  record: { words: 'an object', holds: (value: unknown) => isObject(value) },
} as const;

type Field = { readonly kind: keyof typeof KINDS; readonly optional?: true };

type Fields = Readonly<Record<string, unknown>>;

/** Name of the lead among members. */
export const LEAD = 'team-lead';

type Sender = RoleName | typeof LEAD;

type MessageRules = {
  /** Plain text (`text`), or an object of these fields. */
  readonly content: 'text' | Readonly<Record<string, Field>>;
  /** One line for people, formatted from content as received, even with fields missing; null: the text, or JSON. */
  readonly line: ((fields: Fields) => string) | null;
  /** Usual senders and recipient; null: from anybody to anybody. */
  readonly route: { readonly from: readonly Sender[]; readonly to?: string } | null;
  /** Only the senders of the route may send it, since others act on it. */
  readonly isReserved?: true;
  /** Tasks of the route's recipient may begin on it. */
  readonly releasesTasks?: true;
  /** It asks its recipient for work. */
  readonly asksForWork?: true;
  /** Others act on it, so the report of the team lists it. */
  readonly isReported: boolean;
};

function words(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : JSON.stringify(value);
}

/** Rules by message type. All that the program knows of a type is in its row. */
const TABLE = {
  api_ready: {
    content: { endpoint: { kind: 'route' }, schema: { kind: 'types' }, response: { kind: 'record', optional: true } },
    line: ({ endpoint }) => words(endpoint),
    route: { from: ['backend-dev'], to: 'frontend-dev' },
    releasesTasks: true,
    isReported: true,
  },
  component_ready: {
    content: {
      component: { kind: 'text' },
      path: { kind: 'text' },
      testable: { kind: 'flag' },
      props: { kind: 'texts' },
    },
    line: ({ component, path, testable }) =>
      `${words(component)} in ${words(path)}${testable === false ? ', not testable' : ''}`,
    route: { from: ['frontend-dev'], to: 'tester' },
    releasesTasks: true,
    isReported: true,
  },
  tests_passed: {
    content: {
      coverage: { kind: 'percent' },
      passedTests: { kind: 'count' },
      failedTests: { kind: 'count' },
      duration: { kind: 'text' },
    },
    line: ({ coverage, passedTests, failedTests, duration }) =>
      `${words(passedTests)} passed, ${words(failedTests)} failed, ${words(coverage)} % covered, ${words(duration)}`,
    route: { from: ['tester'], to: 'quality' },
    isReported: true,
  },
  quality_gate_passed: {
    content: {
      trust5Score: { kind: 'number' },
      securityIssues: { kind: 'count' },
      performanceScore: { kind: 'text' },
      recommendation: { kind: 'text' },
    },
    line: ({ trust5Score, securityIssues, performanceScore, recommendation }) =>
      `TRUST 5 ${words(trust5Score)}, ${words(securityIssues)} security issues, performance ${words(performanceScore)}: ${words(recommendation)}`,
    route: { from: ['quality'], to: LEAD },
    isReserved: true,
    isReported: true,
  },
  change_request: {
    content: {
      file: { kind: 'text' },
      requestedChange: { kind: 'text' },
      reason: { kind: 'text' },
      priority: { kind: 'text', optional: true },
    },
    line: ({ file, requestedChange, reason, priority }) =>
      `${words(file)}: ${words(requestedChange)} (${priority === undefined ? '' : `${words(priority)}: `}${words(reason)})`,
    route: null,
    asksForWork: true,
    isReported: true,
  },
  change_completed: {
    content: { file: { kind: 'text' }, change: { kind: 'text' }, commitRef: { kind: 'text' } },
    line: ({ file, change, commitRef }) => `${words(file)}: ${words(change)} (${words(commitRef)})`,
    route: null,
    isReported: true,
  },
  bug_report: {
    content: { test: { kind: 'text' }, expected: { kind: 'text' }, actual: { kind: 'text' } },
    line: ({ test, expected, actual }) => `${words(test)}: expected ${words(expected)}, got ${words(actual)}`,
    route: { from: ['tester'], to: 'backend-dev' },
    asksForWork: true,
    isReported: true,
  },
  coverage_required: {
    content: { current: { kind: 'percent' }, required: { kind: 'percent' }, uncoveredFiles: { kind: 'texts' } },
    line: ({ current, required, uncoveredFiles }) =>
      `${words(current)} % of ${words(required)} %: ${Array.isArray(uncoveredFiles) ? uncoveredFiles.map(words).join(', ') : words(uncoveredFiles)}`,
    route: { from: ['quality', 'tester'], to: 'tester' },
    asksForWork: true,
    isReported: true,
  },
  shutdown_request: { content: 'text', line: null, route: { from: [LEAD] }, isReserved: true, isReported: false },
  progress: { content: 'text', line: null, route: null, isReported: false },
} satisfies Readonly<Record<string, MessageRules>>;

export type MessageType = keyof typeof TABLE;

export const MESSAGES: Readonly<Record<MessageType, MessageRules>> = TABLE;

/** Accepted alternative spellings of field names. */
const SPELLINGS: Readonly<Record<string, string>> = { requested_change: 'requestedChange' };

export type Content = string | Readonly<Record<string, unknown>>;

/** Type and content of a message, or all problems with them. */
export type Checked =
  | { readonly ok: true; readonly type: MessageType; readonly content: Content }
  | { readonly ok: false; readonly problems: readonly Refusal[] };

function isType(name: string): name is MessageType {
  return Object.hasOwn(MESSAGES, name);
}

function suggestion(name: string, known: readonly string[]): { readonly near?: string } {
  const close = nearest(name, known);
  return close === undefined ? {} : { near: close };
}

function invalid(field: string, expected: string, value: unknown): Refusal {
  return refusal(MESSAGES_CODES.parameter_invalid, { field, expected, got: got(value) });
}

/** Checks a received message field by field. Unknown fields are refused: nobody would read them. */
export function checkMessage(type: string, given: unknown): Checked {
  const types = Object.keys(MESSAGES);
  if (!isType(type))
    return {
      ok: false,
      problems: [
        refusal(MESSAGES_CODES.parameter_invalid, {
          ...{ field: 'type', expected: `one of ${types.join(', ')}`, got: got(type) },
          ...suggestion(type, types),
        }),
      ],
    };
  const fields = MESSAGES[type].content;
  if (fields === 'text')
    return KINDS.text.holds(given)
      ? { ok: true, type, content: String(given) }
      : { ok: false, problems: [invalid('content', `text (${type} has no fields)`, given)] };
  const content = typeof given === 'string' ? unquoted(given) : given;
  if (!isObject(content)) {
    const names = Object.entries(fields).map(([name, { optional }]) => (optional === true ? `${name}?` : name));
    return { ok: false, problems: [invalid('content', `an object of ${names.join(', ')}`, given)] };
  }
  const entries = Object.entries(content)
    .map(([name, value]) => [Object.hasOwn(SPELLINGS, name) ? (SPELLINGS[name] ?? name) : name, value] as const)
    // As with parameters, models pass null for an optional field that they leave out.
    .filter(([name, value]) => value !== null || !Object.hasOwn(fields, name) || fields[name]?.optional !== true);
  const problems = [...unknownFields(type, entries, fields), ...wrongFields(entries, fields)];
  return problems.length === 0 ? { ok: true, type, content: Object.fromEntries(entries) } : { ok: false, problems };
}

/** Models pass an object as JSON text where a parameter accepts both. */
function unquoted(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

type Given = readonly (readonly [string, unknown])[];

function unknownFields(type: MessageType, given: Given, fields: Readonly<Record<string, Field>>): Refusal[] {
  const known = Object.keys(fields);
  return given
    .filter(([name], index) => !known.includes(name) || given.findIndex(([other]) => other === name) < index)
    .map(([name]) =>
      known.includes(name)
        ? refusal(MESSAGES_CODES.parameter_repeated, { field: `content.${name}` })
        : refusal(MESSAGES_CODES.parameter_unknown, {
            ...{ field: `content.${name}`, operation: type, known },
            ...suggestion(name, known),
          }),
    );
}

function wrongFields(given: Given, fields: Readonly<Record<string, Field>>): Refusal[] {
  const values = new Map(given);
  return Object.entries(fields).flatMap(([name, { kind, optional }]) => {
    const value = values.get(name);
    const isRight = value === undefined ? optional === true : KINDS[kind].holds(value);
    return isRight ? [] : [invalid(`content.${name}`, KINDS[kind].words, value)];
  });
}

/** Recipient name for everybody but the sender. */
export const EVERYBODY = 'all';

/** Sender name of toolcrew's own messages to the lead; no teammate has it. */
export const TOOLCREW = 'toolcrew';

/** Member whose tasks may begin on this message, before the sender completes those that they wait for; null: none. */
export function beginsOn(type: MessageType, from: string, to: string): string | null {
  const { route, releasesTasks } = MESSAGES[type];
  if (releasesTasks !== true || route?.to === undefined || !route.from.some((one) => one === from)) return null;
  return to === route.to || to === EVERYBODY ? route.to : null;
}

export type RouteVerdict =
  | { readonly kind: 'fine' }
  | { readonly kind: 'unusual' | 'refused'; readonly refusal: Refusal };

/**
 * Judges whether a member may send a message of this type to a recipient. An unusual message is sent all the same.
 * @param owner with `change_request` and `change_completed`: owner of the file; null when it is shared or has none
 */
export function judgeRoute(type: MessageType, from: string, to: string, owner: string | null = null): RouteVerdict {
  if (type === 'change_request') return judgeRequest(from, to, owner);
  if (type === 'change_completed' && owner !== null && owner !== from)
    return {
      kind: 'unusual',
      refusal: refusal(MESSAGES_CODES.message_route_unusual, { type, usual: `the file's owner, ${owner},`, from }),
    };
  const { route, isReserved } = MESSAGES[type];
  if (route === null) return { kind: 'fine' };
  const isSender = route.from.some((one) => one === from);
  if (!isSender && isReserved === true)
    return {
      kind: 'refused',
      refusal: refusal(MESSAGES_CODES.message_type_reserved, { type, senders: route.from, from }),
    };
  const isRecipient = route.to === undefined || to === EVERYBODY || to === route.to;
  if (isSender && isRecipient) return { kind: 'fine' };
  const usual = `${route.from.join(' or ')} to ${route.to ?? 'anybody'}`;
  return { kind: 'unusual', refusal: refusal(MESSAGES_CODES.message_route_unusual, { type, usual, from, to }) };
}

function judgeRequest(from: string, to: string, owner: string | null): RouteVerdict {
  if (owner === null || to === owner) return { kind: 'fine' };
  return {
    kind: 'refused',
    refusal:
      owner === from
        ? refusal(MESSAGES_CODES.request_for_own_file, {})
        : refusal(MESSAGES_CODES.request_to_wrong_owner, { owner, to }),
  };
}

/** Member of a team as a recipient of messages. */
export type Addressee = { readonly name: string; readonly isOver: boolean };

export type Recipient =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly problem: Refusal };

/** Resolves a recipient: a member's exact name, the lead, or everybody. Refusals of other names list the valid ones. */
export function findRecipient(name: string, members: readonly Addressee[]): Recipient {
  const there = members.filter((member) => !member.isOver).map((member) => member.name);
  const valid = [...there, LEAD, EVERYBODY];
  if (valid.includes(name)) return { ok: true, name };
  const isEnded = members.some((member) => member.name === name);
  const meant = isEnded ? undefined : (there.find((one) => agentOf(one) === name) ?? nearest(name, valid));
  return {
    ok: false,
    problem: refusal(MESSAGES_CODES.recipient_unknown, {
      ...{ known: valid, got: got(name) },
      ...(isEnded ? ({ ended: 'ended' } as const) : {}),
      ...(meant === undefined ? {} : { near: meant }),
    }),
  };
}
