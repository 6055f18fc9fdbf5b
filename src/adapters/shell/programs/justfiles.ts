// What just runs for the recipes that it is told, as far as that is plain: their lines, but for those in which it puts something.

import { logicalLines } from './makefiles.ts';

type Recipe = {
  readonly hasParameters: boolean;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly lines: string[];
};

const MOST_RECIPES = 100;
/** In characters. */
const LONGEST_FILE = 100_000;
const LONGEST_HEAD = 1_000;
const SHELL = /(?:^|\/)(?:ba|da|k|z)?sh$/;
/** Attributes that do not change where, whether or how a recipe runs. */
const PLAIN = /^\[\s*(?:(?:private|no-exit-message|no-quiet|default|group|doc)\b[^\]]*)\]$/;

function named(text: string): readonly string[] {
  return [...text.matchAll(/\(\s*([\w-]+)[^)]*\)|([\w-]+)/g)].map(([, called, plain]) => called ?? plain ?? '');
}

/** By their names, the first one first; null: they are run in another place or with another program than a shell. */
function parsed(text: string): ReadonlyMap<string, Recipe> | null {
  const recipes = new Map<string, Recipe>();
  const aliases: (readonly [string, string])[] = [];
  let recipe: Recipe | null = null;
  let isPlain = true;
  for (const line of logicalLines(text.replaceAll('\r\n', '\n'))) {
    if (/^[ \t]/.test(line)) {
      recipe?.lines.push(line.trim());
      continue;
    }
    if (line.startsWith('#') || line.length > LONGEST_HEAD) continue;
    recipe = null;
    if (line.startsWith('[')) {
      isPlain &&= PLAIN.test(line.trim());
      continue;
    }
    const [, shell] = /^set\s+shell\s*:=\s*\[\s*["']([^"']*)/.exec(line) ?? [];
    if (/^set\s+working-directory\b/.test(line) || (shell !== undefined && !SHELL.test(shell))) return null;
    const [, alias, meant] = /^alias\s+([\w-]+)\s*:=\s*([\w-]+)/.exec(line) ?? [];
    if (alias !== undefined && meant !== undefined) aliases.push([alias, meant]);
    const [, name, parameters = '', others = ''] = /^@?([A-Za-z_][\w-]*)((?:\s[^:]*)?):(?!=)(.*)$/s.exec(line) ?? [];
    if (name === undefined) continue;
    const [before = '', after = ''] = others.replace(/#.*$/s, '').split('&&');
    recipe = { hasParameters: parameters.trim() !== '', before: named(before), after: named(after), lines: [] };
    recipes.set(name, isPlain ? recipe : { ...recipe, lines: [] });
    isPlain = true;
  }
  for (const [alias, meant] of aliases) {
    const found = recipes.get(meant);
    if (found !== undefined) recipes.set(alias, found);
  }
  return recipes;
}

/** In a shell each, or the whole of it where it begins with the name of a shell. */
function linesOf({ lines, hasParameters }: Recipe): readonly string[] {
  const [first = ''] = lines;
  const texts = first.startsWith('#!')
    ? /^#!.*(?:\/|\s)(?:ba|da|k|z)?sh\b/.test(first)
      ? [lines.join('\n')]
      : []
    : lines;
  return texts
    .filter((text) => !text.includes('{{') && !(hasParameters && /\$[@*\d]/.test(text)))
    .map((text) => text.replace(/^[@-]+/, ''));
}

/** The lines that just runs, and for which of the recipes that it is told. */
export function linesOfJust(
  text: string,
  words: readonly string[],
): readonly { readonly goal: string; readonly line: string }[] {
  const recipes = text.length > LONGEST_FILE ? null : parsed(text);
  const [first] = recipes?.keys() ?? [];
  if (recipes === null || first === undefined) return [];
  const lines: { readonly goal: string; readonly line: string }[] = [];
  const seen = new Set<string>();
  // What comes around it is as what a build mends on its way; one that only stands for another is that one.
  const run = (name: string, goal: string): void => {
    const recipe = recipes.get(name);
    if (recipe === undefined || seen.has(name) || seen.size >= MOST_RECIPES) return;
    seen.add(name);
    const [only, ...others] = recipe.lines.length === 0 ? [...recipe.before, ...recipe.after] : [];
    if (only !== undefined && others.length === 0) run(only, goal);
    lines.push(...linesOf(recipe).map((line) => ({ goal, line })));
  };
  for (const word of words.length > 0 ? words : [first]) {
    run(word, word);
    // what follows are its own words
    if (recipes.get(word)?.hasParameters !== false) break;
  }
  return lines;
}
