// Texts that are known before a command runs, and those that are not.

/** Where printed paths surely lie. */
export type Places = {
  /** At or below one of these absolute directories. */
  readonly directories: readonly string[];
  /** The directories of which one is where the paths mean that; null: they are absolute. */
  readonly cwds: readonly string[] | null;
};

/** A word of a command, or the text of a variable, that is known only when the command runs. */
export type Unknown = {
  /** How it begins, as far as that is known. */
  readonly lead: string;
  /** It may become no word, or several. */
  readonly many: boolean;
  /** It is surely an integer. */
  readonly number: boolean;
  /** Of a variable: it is an integer, or what the environment holds of the name, of which the command has given it nothing. */
  readonly counted?: true;
  /** It is surely a path that lies there. */
  readonly within: Places | null;
};

export type Field = string | Unknown;

/** What a variable holds: a text, a list of texts, or null when it is surely not set. */
export type Value = Field | readonly Field[] | null;

export const UNKNOWN: Unknown = { lead: '', many: false, number: false, within: null };
export const UNKNOWN_WORDS: Unknown = { ...UNKNOWN, many: true };
export const UNKNOWN_NUMBER: Unknown = { ...UNKNOWN, number: true };

/** Texts longer than this are not followed. */
export const LONGEST_TEXT = 100_000;

export function isText(field: Field | undefined): field is string {
  return typeof field === 'string';
}

export function isList(value: Value): value is readonly Field[] {
  return Array.isArray(value);
}

/** Whether the word may turn out to be an option, or several words of which one may be. */
export function mayBeOption(field: Field): boolean {
  if (isText(field)) return field.startsWith('-') && field !== '-';
  if (field.within !== null) return false;
  return field.many || field.lead === '' || field.lead.startsWith('-');
}

/** Whether paths mean the same in a shell that stands in one of these directories. */
export function meansSame({ cwds }: Places, now: readonly string[] | null): boolean {
  return cwds === null || (now?.every((cwd) => cwds.includes(cwd)) ?? false);
}

const INTEGER = /^[+-]?\d+$/;

export function isInteger(field: Field): boolean {
  return isText(field) ? INTEGER.test(field) : field.number;
}

/** What holds after either of two ways: the text when it is the same, else what both have in common. */
function either(a: Field, b: Field): Field {
  if (isText(a) && a === b) return a;
  const number = isInteger(a) && isInteger(b);
  return {
    ...UNKNOWN,
    number,
    many: manyOf(a) || manyOf(b),
    ...(!number && mayCount(a) && mayCount(b) ? COUNTED : {}),
  };
}

const COUNTED = { counted: true } as const;

function mayCount(value: Value): value is Field {
  return value !== null && !isList(value) && (isInteger(value) || isCounted(value));
}

export function isCounted(value: Value | undefined): boolean {
  return value !== undefined && value !== null && !isList(value) && !isText(value) && value.counted === true;
}

/** What a variable holds after either of two ways of which one has left it as it was in the environment. */
export function maybeGiven(value: Value | undefined): Value {
  return value !== undefined && mayCount(value) ? { ...UNKNOWN, ...COUNTED } : UNKNOWN;
}

function manyOf(field: Field): boolean {
  return !isText(field) && field.many;
}

function sameValue(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  if (isList(a)) return isList(b) && a.length === b.length && a.every((field, index) => sameField(field, b[index]));
  return !isList(b) && sameField(a, b);
}

function sameField(a: Field, b: Field | undefined): boolean {
  if (b === undefined || isText(a) || isText(b)) return a === b;
  return (
    a.lead === b.lead && a.many === b.many && a.number === b.number && a.within === b.within && a.counted === b.counted
  );
}

export function eitherValue(a: Value, b: Value): Value {
  if (sameValue(a, b)) return a;
  if (a === null || b === null || isList(a) || isList(b)) return UNKNOWN;
  return either(a, b);
}

/** Both texts after each other. */
export function concat(a: Field, b: Field): Field {
  if (a === '') return b;
  if (b === '') return a;
  if (isText(a) && isText(b)) return a.length + b.length > LONGEST_TEXT ? UNKNOWN : a + b;
  return { ...UNKNOWN, lead: isText(a) ? a + (isText(b) ? b : b.lead) : a.lead };
}
