// The .tool/config/workflow.yaml that an installation writes: every key with its default and what it means.

import { isSeq, parseDocument, stringify, visit } from 'yaml';
import * as z from 'zod';
import type { Ownership } from '../../guard/rules/ownership.ts';
import { DEFAULT_OWNERSHIP } from '../rules/default-ownership.ts';
import { teamJsonSchema } from './team-schema.ts';

const WIDTH = 100;
const STEP = '  ';

/** What is read here of a JSON Schema. */
const keySchema = z.object({
  description: z.string().optional(),
  default: z.unknown().optional(),
  deprecated: z.boolean().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
});

// What editors check the file with stands beside it, so that nothing is asked of a network.
const EDITORS = '# yaml-language-server: $schema=./workflow.schema.json\n';

const HEAD =
  'How teams of agents work on this project. Every key stands here with its default, except that team mode is enabled, that file_ownership names directories of this project too, and that quality.commands holds the commands proposed for this project. A key that is taken out has its default.';

/** Words as a comment, as wide as the file is. */
function comment(words: string, indent: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of words.split(' ')) {
    if (line !== '' && `${indent}# ${line} ${word}`.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((text) => `${indent}# ${text}\n`).join('');
}

/** A key with its value; short lists of names on one line, globs one below the other. */
function entry(key: string, value: unknown, indent: string): string {
  const document = parseDocument(stringify({ [key]: value }));
  visit(document, {
    Seq: (_, list) => {
      const isShort = list.items.every((item) => !isSeq(item)) && !JSON.stringify(list).includes('/');
      if (isShort) list.flow = true;
    },
  });
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  return text.replace(/^(?=.)/gm, indent);
}

type Given = Readonly<Record<string, { readonly value: unknown; readonly why?: string }>>;

function keysBelow(schema: unknown, path: string, indent: string, given: Given): string {
  const { properties = {} } = keySchema.parse(schema);
  return Object.entries(properties)
    .map(([key, inner]) => {
      const { description, default: standard, deprecated, properties: below } = keySchema.parse(inner);
      if (deprecated === true) return '';
      const about = description === undefined ? '' : comment(description, indent);
      const here = path === '' ? key : `${path}.${key}`;
      if (below !== undefined) return `${about}${indent}${key}:\n${keysBelow(inner, here, indent + STEP, given)}`;
      const { value = standard, why } = given[here] ?? {};
      return about + (why === undefined ? '' : comment(why, indent)) + entry(key, value, indent);
    })
    .join('');
}

/** A command of `quality.commands`, and why it is proposed; null: why nothing measures the part. */
export type CommandRow = { readonly name: string; readonly command: string | null; readonly reason: string };

export function reasonWords({ command, reason }: CommandRow): string {
  return command === null ? `Not measured: ${reason}` : `Proposed from ${reason}.`;
}

/**
 * @param ownership who may change which files of the project
 * @param commands what the gate runs
 */
export function teamFileText(
  ownership: readonly Ownership[] = DEFAULT_OWNERSHIP,
  commands: readonly CommandRow[] = [],
): string {
  const owners = Object.fromEntries(ownership.map(({ owner, patterns }) => [owner, patterns]));
  const given = {
    'workflow.team.enabled': { value: true },
    'workflow.team.file_ownership': { value: owners },
    ...Object.fromEntries(
      commands.map((row) => [`quality.commands.${row.name}`, { value: row.command, why: reasonWords(row) }]),
    ),
  };
  return `${EDITORS}${comment(HEAD, '')}\n${keysBelow(teamJsonSchema(), '', '', given)}`;
}
