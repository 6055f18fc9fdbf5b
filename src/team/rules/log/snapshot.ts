// A team's state as one value of JSON and back: for the record that begins a continued log.

import { isObject } from '../../../base/rules/values.ts';
import type { TeamState } from './state.ts';

/** None of what a team's maps hold are maps themselves. */
function freeze(map: ReadonlyMap<string, unknown>): unknown {
  return { $map: [...map] };
}

/** undefined when it is no frozen map. */
function thaw(value: unknown): Map<unknown, unknown> | undefined {
  if (!isObject(value) || !Array.isArray(value.$map)) return undefined;
  const map = new Map<unknown, unknown>();
  for (const pair of value.$map) {
    if (!Array.isArray(pair) || typeof pair[0] !== 'string') return undefined;
    map.set(pair[0], pair[1]);
  }
  return map;
}

/** The keys of a state, with those that hold maps. */
const SHAPE: Readonly<Record<keyof TeamState, 'map' | 'list' | 'other'>> = {
  team: 'other',
  session: 'other',
  proposal: 'other',
  purpose: 'other',
  lead: 'other',
  approval: 'other',
  writesHeldBy: 'other',
  base: 'other',
  commit: 'other',
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
  written: 'map',
  gate: 'other',
  before: 'other',
  costs: 'map',
  continuedIn: 'other',
};

/** What an older version's snapshot lacks. */
const NEWER: readonly string[] = ['written', 'commit', 'before', 'writesHeldBy'];

/** The state as JSON can hold it. */
export function serializeTeam(state: TeamState): unknown {
  const frozen: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(state)) frozen[key] = item instanceof Map ? freeze(item) : item;
  frozen.messages = state.messages.map((message) => ({
    ...message,
    content: JSON.stringify(message.content),
    receipts: freeze(message.receipts),
  }));
  return frozen;
}

/** undefined when it is no text that `serializeTeam` made. */
function thawContent(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

function thawMessage(message: unknown): unknown {
  if (!isObject(message)) return undefined;
  const content = thawContent(message.content);
  const receipts = thaw(message.receipts);
  return content === undefined || receipts === undefined ? undefined : { ...message, content, receipts };
}

function isState(state: Readonly<Record<string, unknown>>): state is TeamState {
  if (!(state.tasks instanceof Map) || ![...state.tasks.values()].every(isObject)) return false;
  return Object.entries(SHAPE).every(([key, shape]) => {
    const item = state[key];
    if (shape === 'map') return item instanceof Map;
    return shape === 'list' ? Array.isArray(item) && !item.includes(undefined) : item !== undefined;
  });
}

/** The state that was frozen; undefined when `value` is none. */
export function deserializeTeam(value: unknown): TeamState | undefined {
  if (!isObject(value) || !Array.isArray(value.messages)) return undefined;
  const state: Record<string, unknown> = { ...value, messages: value.messages.map(thawMessage) };
  for (const [key, shape] of Object.entries(SHAPE))
    if (state[key] === undefined && NEWER.includes(key)) state[key] = shape === 'map' ? new Map() : null;
    else if (shape === 'map') state[key] = thaw(state[key]);
  return isState(state) ? state : undefined;
}
