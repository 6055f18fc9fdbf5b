// Puts entries into a JSON file that is somebody else's, and takes exactly them out again.

import { isDeepStrictEqual } from 'node:util';
import { failure, type ToolError } from '../base/rules/errors.ts';
import { got } from '../base/rules/text.ts';
import { formatJson } from './json-layout.ts';
import {
  type ArrayNode,
  type JsonNode,
  kindText,
  memberOf,
  nodeValue,
  type ObjectNode,
  readJsonObject,
} from './json-text.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

export type JsonPath = readonly string[];

/** One thing of ours in a file: a member by its name, or one element of a list. */
export type JsonEntry = {
  readonly place: 'member' | 'element';
  /** Of a member with its name; of an element, that of its list. */
  readonly path: JsonPath;
  readonly value: unknown;
  /** Text by which an element is still known after somebody has changed it. */
  readonly mark?: string;
};

/** What was put into a file, as it takes to undo it. */
export type MergeRecord = {
  readonly entries: readonly JsonEntry[];
  /** Objects and lists that were not there. */
  readonly created: readonly JsonPath[];
  /** What stood between the braces or brackets of those that were empty. */
  readonly blanks: readonly { readonly path: JsonPath; readonly inner: string }[];
  /** The text of members that were replaced. */
  readonly replaced: readonly { readonly path: JsonPath; readonly text: string }[];
};

export const NOTHING_MERGED: MergeRecord = { entries: [], created: [], blanks: [], replaced: [] };

/** What stands in an entry's place: it itself, nothing, something of ours that was changed, or somebody else's. */
export type EntryState = 'present' | 'absent' | 'changed' | { readonly other: string };

const same = (a: JsonPath, b: JsonPath) => isDeepStrictEqual(a, b);
const isIn = (paths: readonly JsonPath[], path: JsonPath) => paths.some((one) => same(one, path));
const shown = (path: JsonPath) => path.join('.');

function nodeAt(root: ObjectNode, path: JsonPath, name: string): JsonNode | undefined {
  let node: JsonNode = root;
  for (const [index, key] of path.entries()) {
    if (node.kind !== 'object') throw wrongKind(path.slice(0, index), node, 'an object', name);
    const member = memberOf(node, key, name);
    if (member === undefined) return undefined;
    node = member.node;
  }
  return node;
}

function wrongKind(path: JsonPath, node: JsonNode, expected: string, name: string): ToolError {
  return failure(INSTALL_CODES.json_wrong_kind, { file: name, key: shown(path), expected, got: kindText(node) });
}

function listAt(root: ObjectNode, path: JsonPath, name: string): ArrayNode | undefined {
  const node = nodeAt(root, path, name);
  if (node !== undefined && node.kind !== 'array') throw wrongKind(path, node, 'a list', name);
  return node;
}

/** Which element of the list the entry is; the last one, where its like was there before. */
function indexOf(text: string, list: ArrayNode, entry: JsonEntry): number {
  return list.items.findLastIndex((item) => isDeepStrictEqual(nodeValue(text, item), entry.value));
}

/** @param all the entries that are looked for in this file: another one that carries the same mark is not this one, changed */
export function findEntry(text: string, entry: JsonEntry, all: readonly JsonEntry[], name: string): EntryState {
  const root = readJsonObject(text, name);
  if (entry.place === 'member') {
    const node = nodeAt(root, entry.path, name);
    if (node === undefined) return 'absent';
    const value = nodeValue(text, node);
    return isDeepStrictEqual(value, entry.value) ? 'present' : { other: got(value) };
  }
  const list = listAt(root, entry.path, name);
  if (list === undefined) return 'absent';
  if (indexOf(text, list, entry) >= 0) return 'present';
  const { mark } = entry;
  const strange = list.items.filter(
    (item) =>
      !all.some((one) => same(one.path, entry.path) && isDeepStrictEqual(nodeValue(text, item), one.value)) &&
      mark !== undefined &&
      text.slice(item.start, item.end).includes(mark),
  );
  return strange.length > 0 ? 'changed' : 'absent';
}

/**
 * How a file is laid out; `unit` null: on one line. `isSpread`: a list has a line for each item, however short, as programs
 * write it.
 */
type Layout = {
  readonly unit: string | null;
  readonly lineBreak: string;
  readonly gap: string;
  readonly isSpread: boolean;
};

/** A list of one word that stands on a line of its own. */
const SPREAD = /\[\s*\n\s*(?:"[^"\n]{0,40}"|[\w.]{1,20})\s*\]/;

function layoutOf(text: string, root: ObjectNode): Layout {
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  const isSpread = SPREAD.test(text);
  const [first] = root.items;
  if (first === undefined) return { unit: '  ', lineBreak, gap: ' ', isSpread };
  const before = text.slice(root.start + 1, first.start);
  const gap = /"\s*:(\s*)/.exec(text.slice(first.start))?.[1] === '' ? '' : ' ';
  return { unit: before.includes('\n') ? (before.split('\n').at(-1) ?? '') : null, lineBreak, gap, isSpread };
}

/** @param taken how much else stands on its first line */
function render(value: unknown, layout: Layout, indent: string | null, taken = 0): string {
  const { unit, gap, lineBreak, isSpread } = layout;
  if (unit === null || unit === '' || indent === null) {
    const lines = JSON.stringify(value, null, 1).split('\n');
    // On one line: what `JSON.stringify` puts on lines of their own stands side by side, as far apart as in the file.
    return lines.map((line) => line.trim()).reduce((all, line) => join(all, line, gap));
  }
  const text = isSpread
    ? JSON.stringify(value, null, unit).replaceAll('\n', `\n${indent}`)
    : formatJson(value, unit, indent, taken);
  return text.replaceAll('\n', lineBreak);
}

function join(all: string, line: string, gap: string): string {
  const isTight = /[[{]$/.test(all) || /^[\]}]/.test(line);
  return `${all}${isTight ? '' : gap}${gap === '' ? line.replace(/^("(?:[^"\\]|\\.)*":) /, '$1') : line}`;
}

/** The blanks with which the line begins on which `at` stands. */
function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^\uFEFF?([ \t]*)/.exec(line)?.[1] ?? '';
}

type Container = ObjectNode | ArrayNode;

/** Puts an item behind the last one. */
function append(text: string, node: Container, layout: Layout, key: string | null, value: unknown): string {
  const label = key === null ? '' : `${JSON.stringify(key)}:${layout.gap}`;
  const last = node.items.at(-1);
  if (last === undefined) {
    const outer = indentAt(text, node.start);
    const inner = layout.unit === null ? null : `${outer}${layout.unit}`;
    const item = `${label}${render(value, layout, inner, label.length)}`;
    const filling = inner === null ? item : `${layout.lineBreak}${inner}${item}${layout.lineBreak}${outer}`;
    return `${text.slice(0, node.start + 1)}${filling}${text.slice(node.end - 1)}`;
  }
  const before = /[ \t\r\n]*$/.exec(text.slice(0, last.start))?.[0] ?? '';
  const onLine = !before.includes('\n');
  const space = onLine ? (node.items.length > 1 ? before : before || layout.gap) : before;
  const item = `${label}${render(value, layout, onLine ? null : (before.split('\n').at(-1) ?? ''), label.length)}`;
  return `${text.slice(0, last.end)},${space}${item}${text.slice(last.end)}`;
}

/** Puts one entry in; what it needs around it is made and recorded. */
function insert(
  text: string,
  entry: JsonEntry,
  record: MergeRecord,
  name: string,
): { text: string; record: MergeRecord } {
  const root = readJsonObject(text, name);
  const layout = layoutOf(text, root);
  const containers = entry.place === 'member' ? entry.path.slice(0, -1) : entry.path;
  let depth = containers.length;
  let node: JsonNode | undefined;
  for (; ; depth--) {
    node = nodeAt(root, containers.slice(0, depth), name);
    if (node !== undefined) break;
  }
  const wanted = entry.place === 'element' && depth === containers.length ? 'array' : 'object';
  const place = containers.slice(0, depth);
  if (node.kind === 'plain' || node.kind !== wanted)
    throw wrongKind(place, node, wanted === 'array' ? 'a list' : 'an object', name);
  // What is not there yet is made with the entry in it.
  const missing = entry.path.slice(depth);
  const innermost = entry.place === 'element' && missing.length > 0 ? [entry.value] : entry.value;
  const [key = null, ...rest] = missing;
  const value = rest.reduceRight<unknown>((inner, one) => ({ [one]: inner }), innermost);
  const made = containers.slice(depth).map((_, index) => containers.slice(0, depth + index + 1));
  const blank = node.items.length > 0 ? [] : [{ path: place, inner: text.slice(node.start + 1, node.end - 1) }];
  const known = [...record.created, ...record.blanks.map(({ path }) => path)];
  return {
    text: append(text, node, layout, key, value),
    record: {
      ...record,
      entries: [...record.entries, entry],
      created: [...record.created, ...made.filter((path) => !isIn(record.created, path))],
      blanks: [...record.blanks, ...blank.filter(({ path }) => !isIn(known, path))],
    },
  };
}

function replace(
  text: string,
  entry: JsonEntry,
  record: MergeRecord,
  name: string,
): { text: string; record: MergeRecord } {
  const root = readJsonObject(text, name);
  const node = nodeAt(root, entry.path, name);
  if (node === undefined) return { text, record };
  const fresh = render(entry.value, layoutOf(text, root), indentAt(text, node.start));
  const old = { path: entry.path, text: text.slice(node.start, node.end) };
  return {
    text: `${text.slice(0, node.start)}${fresh}${text.slice(node.end)}`,
    record: { ...record, entries: [...record.entries, entry], replaced: [...record.replaced, old] },
  };
}

/** Puts in what is not there. Of members that are something else, those that `mayReplace` allows are replaced; others are left. */
export function insertEntries(
  text: string,
  entries: readonly JsonEntry[],
  record: MergeRecord,
  name: string,
  mayReplace: (entry: JsonEntry) => boolean,
): { readonly text: string; readonly record: MergeRecord } {
  let state = { text, record };
  for (const entry of entries) {
    const found = findEntry(state.text, entry, entries, name);
    if (found === 'absent') state = insert(state.text, entry, state.record, name);
    else if (typeof found === 'object' && mayReplace(entry)) state = replace(state.text, entry, state.record, name);
  }
  return state;
}

/** Cuts an item out, with the comma that came with it. */
function cut(text: string, node: Container, index: number): string {
  const [item, before, after] = [node.items[index], node.items[index - 1], node.items[index + 1]];
  if (item === undefined) return text;
  if (before !== undefined) return text.slice(0, before.end) + text.slice(item.end);
  if (after !== undefined) return text.slice(0, item.start) + text.slice(after.start);
  return text.slice(0, node.start + 1) + text.slice(node.end - 1);
}

function removeMember(text: string, path: JsonPath, name: string): string {
  const parent = nodeAt(readJsonObject(text, name), path.slice(0, -1), name);
  if (parent?.kind !== 'object') return text;
  return cut(
    text,
    parent,
    parent.items.findIndex((member) => member.key === path.at(-1)),
  );
}

function removeEntry(text: string, entry: JsonEntry, record: MergeRecord, name: string): string {
  const root = readJsonObject(text, name);
  if (entry.place === 'element') {
    const list = listAt(root, entry.path, name);
    return list === undefined ? text : cut(text, list, indexOf(text, list, entry));
  }
  const old = record.replaced.find(({ path }) => same(path, entry.path));
  if (old === undefined) return removeMember(text, entry.path, name);
  const node = nodeAt(root, entry.path, name);
  return node === undefined ? text : text.slice(0, node.start) + old.text + text.slice(node.end);
}

/** Takes out what was made for entries and holds nothing any more, the innermost first, and empties what was empty. */
function tidy(text: string, record: MergeRecord, name: string): string {
  let result = text;
  const isEmpty = (path: JsonPath) => {
    const node = nodeAt(readJsonObject(result, name), path, name);
    return node !== undefined && node.kind !== 'plain' && node.items.length === 0 ? node : undefined;
  };
  for (const path of record.created.toSorted((a, b) => b.length - a.length))
    if (isEmpty(path) !== undefined) result = removeMember(result, path, name);
  for (const { path, inner } of record.blanks) {
    const node = isEmpty(path);
    if (node !== undefined) result = result.slice(0, node.start + 1) + inner + result.slice(node.end - 1);
  }
  return result;
}

/**
 * Takes out what was put in, as far as it is unchanged; `left`: what is not, with what stands there now.
 * @param others entries of ours that stay
 */
export function removeEntries(
  text: string,
  record: MergeRecord,
  name: string,
  others: readonly JsonEntry[] = [],
): { readonly text: string; readonly left: readonly string[] } {
  let result = text;
  const left: string[] = [];
  for (const entry of record.entries.toReversed()) {
    const found = findEntry(result, entry, [...record.entries, ...others], name);
    if (found === 'present') result = removeEntry(result, entry, record, name);
    else if (found === 'changed') left.push(`${shown(entry.path)}: the one with ${entry.mark ?? ''}`);
    else if (typeof found === 'object') left.push(`${shown(entry.path)}: ${found.other}`);
  }
  return { text: tidy(result, record, name), left };
}
