// What make runs for its goals, as far as that is plain: lines of recipes, with variables that the makefile itself sets to a text.

type Rule = {
  readonly targets: string;
  readonly sources: string;
  readonly lines: string[];
  /** It stands beside others of the same target: `a:: b`. */
  readonly isOne: boolean;
};

type Variable = { readonly text: string; readonly isDefault: boolean };

type Makefile = {
  readonly rules: readonly Rule[];
  /** null: what it stands for is not plain. */
  readonly variables: ReadonlyMap<string, Variable | null>;
};

/** What is known where make is called. */
export type MakeCall = {
  /** Empty: the first one. */
  readonly goals: readonly string[];
  /** Variables among its words; null: to what is not known. */
  readonly given: ReadonlyMap<string, string | null>;
  readonly isInEnvironment: (name: string) => boolean;
};

const MOST_RULES = 100;
const MOST_LINES = 200;
const DEEPEST = 10;
/** In characters. */
const LONGEST_FILE = 100_000;
const LONGEST_LINE = 10_000;

const ASSIGNED = /^(?:(?:export|override|private)\s+)*([\w.-]+)\s*(\?=|\+=|!=|:{0,3}=)\s*(.*)$/s;
const RULE = /^([^:=]+)(::?)(?!=)([^;]*)(?:;(.*))?$/s;
const OF_TARGET = /^(?:\s*(?:export|override|private)\s)*\s*([\w.-]+)\s*(?:[?+!]|:{0,3})=/;

/** Lines with those that go on behind a `\`. */
export function logicalLines(text: string): readonly string[] {
  return text.match(/(?:[^\\\n]+|\\[\s\S]|\\$)+/g) ?? [];
}

/** null: its recipes are run in another way than line by line in a shell. */
function parsed(text: string): Makefile | null {
  const rules: Rule[] = [];
  const variables = new Map<string, Variable | null>();
  let rule: Rule | null = null;
  let isInRecipe = false;
  let isDefining = false;
  let conditions = 0;
  for (const whole of logicalLines(text.replaceAll('\r\n', '\n'))) {
    if (isDefining) {
      isDefining = !/^\s*endef\b/.test(whole);
      continue;
    }
    if (isInRecipe && whole.startsWith('\t')) {
      // which of the lines between conditions are meant is not worked out
      if (conditions === 0) rule?.lines.push(whole.replace(/\\\n\t/g, '\\\n'));
      continue;
    }
    const line = whole
      .replace(/\\\n\s*/g, ' ')
      .replace(/(?<!\\)#.*$/s, '')
      .trim();
    if (line === '') continue;
    if (/^(?:ifn?eq|ifn?def)\b/.test(line)) conditions += 1;
    else if (/^endif\b/.test(line)) conditions -= 1;
    if (/^(?:ifn?eq|ifn?def|else|endif)\b/.test(line)) continue;
    rule = null;
    isInRecipe = false;
    const [, defined] = /^(?:(?:export|override)\s+)*define\s+([^\s:=?+]+)/.exec(line) ?? [];
    if (defined !== undefined) {
      isDefining = true;
      variables.set(defined, null);
      continue;
    }
    const [, name, sign, value = ''] = ASSIGNED.exec(line) ?? [];
    if (name !== undefined) {
      if (name === '.RECIPEPREFIX' || (name === 'SHELL' && !/(?:^|[/ ])(?:ba|da|k|z)?sh$/.test(value))) return null;
      const isDefault = sign === '?=';
      const isPlain = conditions === 0 && sign !== '+=' && sign !== '!=' && !variables.has(name);
      if (!isDefault || !variables.has(name)) variables.set(name, isPlain ? { text: value, isDefault } : null);
      continue;
    }
    const [, targets, sign2, sources = '', first] = RULE.exec(line) ?? [];
    if (targets === undefined) continue;
    if (targets === '.ONESHELL') return null;
    const [, own] = OF_TARGET.exec(sources) ?? [];
    if (own !== undefined) {
      variables.set(own, null);
      continue;
    }
    isInRecipe = true;
    // of those with a pattern it depends on what is there which are meant
    if (conditions === 0 && !/[%:]/.test(targets + sources)) {
      rule = {
        targets: targets.replace(/&$/, ''),
        sources,
        lines: first === undefined ? [] : [first],
        isOne: sign2 === '::',
      };
      rules.push(rule);
    }
  }
  return { rules, variables };
}

/** Puts in what variables stand for; null: something in the text is known to make alone. */
function expander({ variables }: Makefile, call: MakeCall): (text: string) => string | null {
  const known = new Map<string, string | null>();
  const textOf = (name: string, depth: number): string | null => {
    const given = call.given.get(name);
    if (given !== undefined) return given;
    const variable = variables.get(name);
    if (variable === undefined) return name === 'MAKE' ? 'make' : null;
    if (variable === null || (variable.isDefault && call.isInEnvironment(name))) return null;
    const text = known.has(name) ? (known.get(name) ?? null) : expanded(variable.text, depth + 1);
    known.set(name, text);
    return text;
  };
  const expanded = (text: string, depth: number): string | null => {
    let left = depth < DEEPEST ? LONGEST_LINE - text.length : -1;
    const found = text.replace(/\$(?:\$|\(([\w.-]+)\)|\{([\w.-]+)\}|)/g, (sign, round?: string, curly?: string) => {
      if (sign === '$$') return '$';
      const name = round ?? curly;
      const value = left < 0 || name === undefined ? null : textOf(name, depth);
      left = value === null ? -1 : left - value.length;
      return value ?? '';
    });
    return left < 0 ? null : found;
  };
  return (text) => expanded(text, 0);
}

function wordsOf(text: string | null): readonly string[] {
  return (text ?? '').split(/\s+/).filter((word) => word !== '' && word !== '|');
}

/** The lines that make runs in a shell each, and for which of its goals. */
export function linesOfMake(text: string, call: MakeCall): readonly { readonly goal: string; readonly line: string }[] {
  const makefile = text.length > LONGEST_FILE ? null : parsed(text);
  if (makefile === null) return [];
  const expanded = expander(makefile, call);
  const rules = new Map<string, Rule[]>();
  for (const rule of makefile.rules)
    for (const target of wordsOf(expanded(rule.targets))) {
      const own = rules.get(target);
      if (own === undefined) rules.set(target, [rule]);
      else own.push(rule);
    }
  const sourcesOf = (target: string) => (rules.get(target) ?? []).flatMap(({ sources }) => wordsOf(expanded(sources)));
  const chosen = makefile.variables.get('.DEFAULT_GOAL');
  const first =
    chosen === undefined ? [...rules.keys()].find((target) => !/^\.(?!.*\/)/.test(target)) : (chosen?.text ?? '');
  const lines: { readonly goal: string; readonly line: string }[] = [];
  const seen = new Set<string>();
  // What comes before it is as what a build mends on its way; a goal that only stands for another one is that one.
  const make = (target: string, goal: string): void => {
    if (seen.has(target) || seen.size >= MOST_RULES) return;
    seen.add(target);
    const own = rules.get(target) ?? [];
    const filled = own.filter((rule) => rule.lines.length > 0);
    const [only, ...others] = filled.length === 0 ? sourcesOf(target) : [];
    if (only !== undefined && others.length === 0) make(only, goal);
    for (const rule of own[0]?.isOne === true ? filled : filled.slice(-1))
      for (const one of rule.lines) {
        const line = expanded(one.replace(/^[\s@+-]+/, ''));
        if (line !== null && line !== '' && lines.length < MOST_LINES) lines.push({ goal, line });
      }
  };
  for (const goal of call.goals.length > 0 ? call.goals : first === undefined ? [] : [first]) make(goal, goal);
  return lines;
}
