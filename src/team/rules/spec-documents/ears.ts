// The five forms in which a requirement is written: EARS, the easy approach to requirements syntax.

export type EarsForm = 'ubiquitous' | 'event' | 'state' | 'unwanted' | 'optional';

type Rule = { readonly form: EarsForm; readonly begins: RegExp; readonly whole: RegExp; readonly shape: string };

const SUBJECT = '(?:the|a|an|each|every|all|no)\\s+\\S.*?';
const SHALL = '\\s+shall\\s+\\S';
/** Between the condition and the response. */
const THEN = '\\S.*?(?:,\\s+(?:then\\s+)?|\\s+then\\s+)';

const CONDITIONAL: readonly Rule[] = [
  {
    form: 'event',
    begins: /^when\b/i,
    whole: new RegExp(`^when\\s+${THEN}${SUBJECT}${SHALL}`, 'i'),
    shape: 'When <trigger>, the <system> shall <response>',
  },
  {
    form: 'state',
    begins: /^while\b/i,
    whole: new RegExp(`^while\\s+${THEN}${SUBJECT}${SHALL}`, 'i'),
    shape: 'While <state>, the <system> shall <response>',
  },
  {
    form: 'unwanted',
    begins: /^if\b/i,
    whole: new RegExp(`^if\\s+\\S.*?,?\\s+then\\s+${SUBJECT}${SHALL}`, 'i'),
    shape: 'If <condition>, then the <system> shall <response>',
  },
  {
    form: 'optional',
    begins: /^where\b/i,
    whole: new RegExp(`^where\\s+${THEN}${SUBJECT}${SHALL}`, 'i'),
    shape: 'Where <feature>, the <system> shall <response>',
  },
];

const UBIQUITOUS = new RegExp(`^${SUBJECT}${SHALL}`, 'i');

/** The form of a requirement; null when it has none. */
export function earsForm(text: string): EarsForm | null {
  const rule = CONDITIONAL.find(({ begins }) => begins.test(text));
  if (rule !== undefined) return rule.whole.test(text) ? rule.form : null;
  return UBIQUITOUS.test(text) ? 'ubiquitous' : null;
}

/** The shape that a text without a form comes nearest to, for an error. */
export function expectedShape(text: string): string {
  return (
    CONDITIONAL.find(({ begins }) => begins.test(text))?.shape ??
    'The <system> shall <response>, or a line that begins with When, While, If or Where'
  );
}

/** Common words of English that no widespread language shares. */
const ENGLISH =
  /\b(?:the|and|shall|should|when|while|where|which|with|this|that|these|if|every|each|from|not|have|users?)\b/i;
/** Those that one or the other does, as Dutch does `of`, Czech `by`, Romanian `are` and German `will`: one alone says little. */
const SHARED = /\b(?:must|only|can|are|by|of|as|for|has|will|may)\b/gi;
/** Shorter ones in plain letters are taken for English. */
const OTHER_WORDS_LEAST = 4;

/** Whether a text seems to be in another language than English, in which its form cannot be checked. */
export function isOtherLanguage(text: string): boolean {
  const words = text.replaceAll(/`[^`]*`/g, '');
  if (ENGLISH.test(words) || new Set(words.toLowerCase().match(SHARED)).size > 1) return false;
  return /[^\P{L}A-Za-z]/u.test(words) || (words.match(/[A-Za-z]+/g) ?? []).length >= OTHER_WORDS_LEAST;
}
