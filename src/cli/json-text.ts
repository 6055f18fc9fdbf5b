// JSON that a terminal can be shown: what it would act on or hide is written as an escape, which reads back the same.

/** C0 is escaped by JSON itself; these are not. The joiner of emoji is left. */
const UNSEEN = /(?!\u200d)[\u007f-\u009f\p{Cf}\u2028\u2029]/gu;

function escapes(text: string): string {
  return Array.from(text, (char) =>
    Array.from(
      { length: char.length },
      (_, index) => `\\u${char.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  ).join('');
}

export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNSEEN, escapes);
}
