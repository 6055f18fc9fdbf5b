// A team's state as one value of JSON and back: for the record that begins a continued log.

import type { TeamState } from './state.ts';

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function freeze(value: unknown): unknown {
  if (value instanceof Map) return { $map: [...value].map(([key, item]) => [key, freeze(item)]) };
  if (Array.isArray(value)) return value.map(freeze);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, freeze(item)]));
}

function thaw(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(thaw);
  if (!isObject(value)) return value;
  if (Array.isArray(value.$map))
    return new Map(value.$map.map((pair: unknown) => (Array.isArray(pair) ? [pair[0], thaw(pair[1])] : [pair, null])));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, thaw(item)]));
}

/** The keys of a state, with those that hold maps. */
const SHAPE: Readonly<Record<keyof TeamState, 'map' | 'list' | 'other'>> = {
  team: 'other',
  session: 'other',
  proposal: 'other',
  purpose: 'other',
  lead: 'other',
  approval: 'other',
  base: 'other',
  createdAt: 'other',
  shutdownAt: 'other',
  fallback: 'other',
  members: 'map',
  bindings: 'map',
  tasks: 'map',
  messages: 'list',
  unread: 'map',
  leases: 'map',
  decisions: 'list',
  rejections: 'map',
  writers: 'map',
  gate: 'other',
  continuedIn: 'other',
};

/** The state as JSON can hold it. Values of messages that look like a frozen map stay what they are: they are frozen twice. */
export function freezeTeam(state: TeamState): unknown {
  const { messages, ...rest } = state;
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, freeze(item)])),
    messages: messages.map((message) => ({
      ...message,
      content: JSON.stringify(message.content),
      receipts: freeze(message.receipts),
    })),
  };
}

function isState(value: unknown): value is TeamState {
  return (
    isObject(value) &&
    Object.entries(SHAPE).every(([key, shape]) => {
      const item = value[key];
      if (shape === 'map') return item instanceof Map;
      return shape === 'list' ? Array.isArray(item) : item !== undefined;
    })
  );
}

/** undefined when it is no text that `freezeTeam` made. */
function thawContent(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** The state that was frozen; undefined when `value` is none. */
export function thawTeam(value: unknown): TeamState | undefined {
  if (!isObject(value) || !Array.isArray(value.messages)) return undefined;
  const { messages, ...rest } = value;
  const thawed = thaw(rest);
  if (!isObject(thawed)) return undefined;
  const state = {
    ...thawed,
    messages: messages.flatMap((message: unknown) => {
      const content = isObject(message) ? thawContent(message.content) : undefined;
      return isObject(message) && content !== undefined
        ? [{ ...message, content, receipts: thaw(message.receipts) }]
        : [];
    }),
  };
  if (state.messages.length !== messages.length) return undefined;
  return isState(state) ? state : undefined;
}
