// Formats JSON as common formatters do: a list that fits stays on one line, every other value has its own line.

/** As wide as a line may be, a tab counting as two. */
const WIDTH = 80;

function widthOf(text: string): number {
  return text.replaceAll('\t', '  ').length;
}

/** On one line: null where something in it has lines of its own, or where it is too long. */
function onOneLine(value: unknown, room: number): string | null {
  if (Array.isArray(value)) {
    // Lists of lists are read line by line.
    if (value.length > 1 && value.every((item) => Array.isArray(item) && item.length > 1)) return null;
    const items = value.map((item) => onOneLine(item, room));
    if (items.some((item) => item === null)) return null;
    const text = `[${items.join(', ')}]`;
    return text.length <= room ? text : null;
  }
  const isFull = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  return isFull ? null : JSON.stringify(value);
}

/**
 * @param value as `JSON.parse` gives it
 * @param unit of the indentation
 * @param indent of the line on which it begins
 * @param taken what else stands on its first line: before it, without the indentation, and behind it
 */
export function formatJson(value: unknown, unit = '  ', indent = '', taken = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const short = onOneLine(value, WIDTH - widthOf(indent) - taken);
  if (short !== null) return short;
  const inner = `${indent}${unit}`;
  const last = Object.keys(value).length - 1;
  const lines = Object.entries(value).map(([key, item], index) => {
    const label = Array.isArray(value) ? '' : `${JSON.stringify(key)}: `;
    const comma = index < last ? ',' : '';
    return `${inner}${label}${formatJson(item, unit, inner, label.length + comma.length)}${comma}`;
  });
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${lines.join('\n')}\n${indent}${close}`;
}

/** A whole file. */
export function jsonFile(value: unknown): string {
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return `${formatJson(plain)}\n`;
}
