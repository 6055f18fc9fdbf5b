import assert from 'node:assert/strict';
import test from 'node:test';
import { parse } from 'yaml';
import { teamFileText } from '../../../src/team/config/team-file-text.ts';
import { teamJsonSchema } from '../../../src/team/config/team-schema.ts';
import { parseTeamSettings } from '../../../src/team/config/team-settings.ts';
import { DEFAULT_TEAM_SETTINGS } from '../../../src/team/rules/default-settings.ts';
import { SIZES } from '../../../src/team/rules/select/selection.ts';

const text = teamFileText();

type Schema = {
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
};

const schema: Schema = JSON.parse(JSON.stringify(teamJsonSchema()));

test('it says the defaults, and that team mode is enabled', () => {
  assert.deepEqual(parseTeamSettings(text, 'F'), { ...DEFAULT_TEAM_SETTINGS, enabled: true });
});

/** Every key below a schema, with its path and what is said of it. */
function keysOf(schema: Schema, path: readonly string[] = []): [readonly string[], Schema][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
    [[...path, name], inner],
    ...keysOf(inner, [...path, name]),
  ]);
}

test('it has every key of the schema, each below its own words', () => {
  const keys = keysOf(schema).filter(([, { deprecated }]) => deprecated !== true);
  const isBelow = (path: readonly string[]) => path[0] === 'workflow' && path[1] === 'hooks';
  const shown = keys.filter(([path]) => !isBelow(path));
  assert.ok(shown.length > 30);
  const data = parse(text);
  // The words of each comment, with the line that follows it.
  const comments = new Map<string, string[]>();
  let words: string[] = [];
  for (const line of text.split('\n').map((line) => line.trim())) {
    if (line.startsWith('# ')) words.push(line.slice(2));
    else {
      const name = line.split(':')[0] ?? '';
      comments.set(name, [...(comments.get(name) ?? []), words.join(' ')]);
      words = [];
    }
  }
  for (const [path, { description = '' }] of shown) {
    const found = path.reduce((at, key) => (Object.hasOwn(at ?? {}, key) ? at[key] : undefined), data);
    assert.notEqual(found, undefined, path.join('.'));
    assert.ok(comments.get(path.at(-1) ?? '')?.includes(description), `${path.join('.')}: ${description}`);
  }
});

test('it names the keys that have no place in it', () => {
  const items = schema.properties?.quality?.properties?.performance?.items?.properties ?? {};
  assert.deepEqual(Object.keys(items), ['name', 'command', 'budget_ms']);
  for (const name of [...Object.keys(items).map((item) => `${item}: `), 'workflow.hooks'])
    assert.ok(text.includes(name), name);
});

test('it says below how many files the thresholds have no effect', () => {
  const said = text.replace(/\s+# /g, ' ');
  assert.ok(said.includes(`Work on fewer than ${SIZES.medium} files is one agent's whatever they say`));
});

test('no line is longer than 100 columns, none ends in a space', () => {
  for (const line of text.split('\n')) assert.match(line, /^(?:.{0,99}[^\s])?$/u);
  assert.ok(text.endsWith('540000\n'));
});

test('editors find its schema beside it', () => {
  assert.ok(text.startsWith('# yaml-language-server: $schema=./workflow.schema.json\n'));
});
