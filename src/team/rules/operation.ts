// The operations of a team: what each takes. The listing for models, the checks of what came, and the command line are
// made of this one table.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { nearest } from '../../base/rules/nearest.ts';
import { got } from '../../base/rules/text.ts';
import { isObject } from '../../base/rules/values.ts';
import { MESSAGES_CODES } from './codes/messages-codes.ts';
import { MESSAGES } from './message.ts';
import { SHOWN_STATUSES, TASK_STATUSES } from './task.ts';

type Kind = 'text' | 'words' | 'texts' | 'flag' | 'count' | 'content';

export type Parameter = {
  readonly kind: Kind;
  readonly required: boolean;
  /** For refusals, and for the listing unless the name says as much: every session pays for the listing. */
  readonly says: string;
  readonly values?: readonly string[];
  /** `name`: listed by its name alone. `none`: accepted, and left out; the answer that makes it necessary names it. */
  readonly listed?: 'name' | 'none';
};

export type OperationName =
  | 'TeamCreate'
  | 'Task'
  | 'SendMessage'
  | 'TaskCreate'
  | 'TaskUpdate'
  | 'TaskList'
  | 'TaskGet'
  | 'TeamDelete'
  | 'Inbox'
  | 'FileLease';

export type Operation = { readonly says: string; readonly parameters: Readonly<Record<string, Parameter>> };

const need = (kind: Kind, says: string, values?: readonly string[]): Parameter => ({
  kind,
  required: true,
  says,
  ...(values === undefined ? {} : { values }),
});
const may = (kind: Kind, says: string, values?: readonly string[]): Parameter => ({
  ...need(kind, says, values),
  required: false,
});
/** Its name says all that a model has to know. */
const plain = (parameter: Parameter): Parameter => ({ ...parameter, listed: 'name' });
const unlisted = (parameter: Parameter): Parameter => ({ ...parameter, listed: 'none' });

/** Those that any operation takes. */
const COMMON: Readonly<Record<string, Parameter>> = {
  key: unlisted(may('text', 'The key that you were handed, if you were.')),
};
const TEAM = unlisted(may('text', 'Which team, when you lead several.'));

export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  TeamCreate: {
    says: 'Creates a team. Returns its tasks and the next calls.',
    parameters: {
      team_name: need('text', 'tool-plan-<feature>, tool-run-<spec-id-lowercase> or tool-debug-<failure>.'),
      pattern: may('text', 'Like implementation.'),
      subject: may('text', "The feature's words, the SPEC's id or the failure."),
    },
  },
  Task: {
    says: 'Registers a teammate. Then make the Agent call that it returns in `call`, unchanged: nothing runs before.',
    parameters: {
      subagent_type: need('text', 'Like team-backend-dev.'),
      team_name: plain(need('text', "The team's name.")),
      name: need('text', 'Like backend-dev.'),
      prompt: plain(need('words', 'The work.')),
    },
  },
  SendMessage: {
    says: 'Sends a message to a teammate, to team-lead or to all.',
    parameters: {
      recipient: plain(need('text', 'An exact name.')),
      type: plain(need('text', 'The kind.', Object.keys(MESSAGES))),
      content: need('content', 'The fields of the type; text for shutdown_request and progress.'),
      in_reply_to: may('count', 'Number of a message.'),
      team_name: TEAM,
    },
  },
  TaskCreate: {
    says: 'Adds a task to the shared list.',
    parameters: {
      subject: plain(need('text', 'A short title.')),
      description: plain(need('words', 'The work, and when it is done.')),
      owner: plain(may('text', 'The teammate it is for.')),
      files: may('texts', 'Paths or globs.'),
      blocked_by: may('texts', 'Task ids.'),
      team_name: TEAM,
    },
  },
  TaskUpdate: {
    says: 'Sets the status of a task. in_progress claims it; completed is accepted when the checks pass.',
    parameters: {
      taskId: plain(need('text', 'The id.')),
      status: plain(need('text', 'The new status.', TASK_STATUSES)),
      result: plain(may('words', 'What came of it.')),
      owner: may('text', 'Set by the lead.'),
      team_name: TEAM,
    },
  },
  TaskList: {
    says: 'Lists open tasks, the 20 that ended last, and counts of all.',
    parameters: { status: plain(may('text', 'Only these, the 100 newest.', SHOWN_STATUSES)), team_name: TEAM },
  },
  TaskGet: { says: 'Gets one task.', parameters: { taskId: plain(need('text', 'The id.')), team_name: TEAM } },
  TeamDelete: {
    says: 'Ends the team after every teammate has shut down, and archives its log.',
    parameters: {
      team_name: plain(need('text', "The team's name.")),
      force: may('flag', 'Does not wait for those that did not answer within the deadline.'),
    },
  },
  Inbox: { says: 'Returns your unread messages and marks them as read.', parameters: { team_name: TEAM } },
  FileLease: {
    says: 'Lends you a shared path, or one without an owner, so that you may write it.',
    parameters: {
      path: need('text', "From the project's root."),
      reason: plain(may('text', 'What for.')),
      minutes: may('count', '1 to 120; default 30.'),
      release: may('flag', 'Gives it back.'),
      team_name: TEAM,
    },
  },
};

/** Only the lead may call them: a teammate with a server of its own is not offered them. */
const OF_LEAD: readonly OperationName[] = ['TeamCreate', 'Task', 'TeamDelete'];

/** The operations that a server lists. */
export function listedOperations(isTeammate: boolean): readonly OperationName[] {
  return Object.keys(OPERATIONS)
    .filter(isOperation)
    .filter((name) => !(isTeammate && OF_LEAD.includes(name)));
}

export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}

/** What an operation was given, checked. */
export type Input = {
  readonly text: (name: string) => string;
  readonly maybe: (name: string) => string | undefined;
  readonly texts: (name: string) => readonly string[];
  readonly flag: (name: string) => boolean;
  readonly count: (name: string) => number | undefined;
  readonly raw: (name: string) => unknown;
};

/** So much text fits into one parameter, characters. */
const TEXT_MAX = 2_000;
const WORDS_MAX = 100_000;

/** Everybody who is sent it has all of it in its conversation. */
function tooLong(content: string): Fault | null {
  return content.length > WORDS_MAX ? lengthFault(WORDS_MAX, content) : null;
}

function lengthFault(max: number, { length }: string): Fault {
  return { expected: `at most ${max} characters`, got: String(length) };
}

type Fault = { readonly expected: string; readonly got: string; readonly near?: string };

function fault(parameter: Parameter, value: unknown): Fault | null {
  const { kind, values } = parameter;
  switch (kind) {
    case 'text':
    case 'words': {
      const max = kind === 'text' ? TEXT_MAX : WORDS_MAX;
      if (typeof value !== 'string' || value.trim() === '') return { expected: 'text', got: got(value) };
      if (value.length > max) return lengthFault(max, value);
      if (values === undefined || values.includes(value)) return null;
      const close = nearest(value, values);
      return {
        ...{ expected: `one of ${values.join(', ')}`, got: got(value) },
        ...(close === undefined ? {} : { near: close }),
      };
    }
    case 'texts':
      return Array.isArray(value) && value.every((one) => typeof one === 'string' && one.trim() !== '')
        ? null
        : { expected: 'a list of texts', got: got(value) };
    case 'flag':
      return typeof value === 'boolean' ? null : { expected: 'true or false', got: got(value) };
    case 'count':
      return Number.isSafeInteger(value) && Number(value) >= 1
        ? null
        : { expected: 'a whole number of at least 1', got: got(value) };
    case 'content':
      return typeof value === 'string' || isObject(value)
        ? tooLong(typeof value === 'string' ? value : JSON.stringify(value))
        : { expected: 'an object or text', got: got(value) };
  }
}

/** Checks what an operation was given; every problem at once. `known`: keys besides that are not looked at here. */
export function readInput(
  name: OperationName,
  given: unknown,
  known: readonly string[] = [],
): { readonly ok: true; readonly input: Input } | { readonly ok: false; readonly problems: readonly Refusal[] } {
  const parameters: Readonly<Record<string, Parameter>> = { ...OPERATIONS[name].parameters, ...COMMON };
  const values = given ?? {};
  if (!isObject(values))
    return { ok: false, problems: [invalid('parameters', { expected: 'an object', got: got(given) })] };
  const problems = Object.keys(values)
    .filter((key) => !Object.hasOwn(parameters, key) && !known.includes(key))
    .map((key) => {
      const close = nearest(key, Object.keys(parameters));
      return refusal(MESSAGES_CODES.parameter_unknown, {
        ...{ field: key, operation: name, known: Object.keys(OPERATIONS[name].parameters) },
        ...(close === undefined ? {} : { near: close }),
      });
    });
  for (const [key, parameter] of Object.entries(parameters)) {
    const value = values[key];
    // A model that fills in everything it may says null for what it does not mean.
    if (value === undefined || value === null) {
      const { required, says, values: valid } = parameter;
      if (required)
        problems.push(
          refusal(MESSAGES_CODES.parameter_missing, {
            ...{ field: key, operation: name, describes: says },
            ...(valid === undefined ? {} : { known: valid }),
          }),
        );
      continue;
    }
    const wrong = fault(parameter, value);
    if (wrong !== null) problems.push(invalid(key, wrong));
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, input: inputOf(values) };
}

function invalid(field: string, wrong: Fault): Refusal {
  return refusal(MESSAGES_CODES.parameter_invalid, { field, ...wrong });
}

function inputOf(values: Readonly<Record<string, unknown>>): Input {
  const text = (name: string): string => {
    const value = values[name];
    return typeof value === 'string' ? value : '';
  };
  return {
    text,
    maybe: (name) => (typeof values[name] === 'string' ? text(name) : undefined),
    texts: (name) => {
      const value = values[name];
      return Array.isArray(value) ? value.map(String) : [];
    },
    flag: (name) => values[name] === true,
    count: (name) => (typeof values[name] === 'number' ? Number(values[name]) : undefined),
    raw: (name) => values[name],
  };
}

const JSON_TYPES: Readonly<Record<Kind, Readonly<Record<string, unknown>>>> = {
  text: { type: 'string' },
  words: { type: 'string' },
  texts: { type: 'array', items: { type: 'string' } },
  flag: { type: 'boolean' },
  count: { type: 'integer', minimum: 1 },
  content: { type: ['object', 'string'] },
};

/** The JSON Schema of what an operation takes, as a listing shows it. */
export function inputSchema(name: OperationName): Record<string, unknown> & { type: 'object' } {
  const parameters = Object.entries({ ...OPERATIONS[name].parameters, ...COMMON }).filter(
    ([, { listed }]) => listed !== 'none',
  );
  const required = parameters.filter((entry) => entry[1].required).map(([key]) => key);
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map(([key, { kind, says, values, listed }]) => [
        key,
        {
          ...JSON_TYPES[kind],
          ...(values === undefined ? {} : { enum: values }),
          ...(listed === 'name' ? {} : { description: says }),
        },
      ]),
    ),
    ...(required.length === 0 ? {} : { required }),
  };
}
