// Width of text on a terminal, in columns: wide characters take two, marks none.

const ASCII = /^[\x20-\x7e]*$/;
/** Marks that stand on the character before them, and what joins or chooses a form. */
const NO_WIDTH = /^[\p{Mn}\p{Me}\u200b-\u200d\u2060\ufeff]$/u;
const EMOJI = /^\p{Emoji_Presentation}$/u;
/** A sequence that is drawn as one picture: joined, in emoji form, or two letters of a flag. */
const PICTURE =
  /^(?:\p{Regional_Indicator}{2}|[#*0-9]\ufe0f?\u20e3|\p{Extended_Pictographic}\ufe0f|\p{Extended_Pictographic}\p{Emoji_Modifier}|\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?\u200d)/u;

/** Ranges of code points that East Asian text gives two columns, besides emoji. First and last, in order. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1d300, 0x1d376],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
];

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function charWidth(char: string): number {
  if (NO_WIDTH.test(char)) return 0;
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x1100) return 1;
  return EMOJI.test(char) || WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

/** Of what a reader sees as one character. */
function graphemeWidth(grapheme: string): number {
  if (PICTURE.test(grapheme)) return 2;
  let width = 0;
  for (const char of grapheme) width += charWidth(char);
  return width;
}

/** How many columns the text takes. It holds no control characters: `visible` first. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** Cuts to at most `max` columns, never through a character; an ellipsis stands for what was cut. */
export function clipColumns(text: string, max: number): string {
  if (max <= 0) return '';
  if (displayWidth(text) <= max) return text;
  let cut = '';
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    width += graphemeWidth(segment);
    if (width > max - 1) break;
    cut += segment;
  }
  return `${cut}…`;
}

/** The text in pieces of at most `max` columns, never broken through a character; of an empty one a single empty piece. */
export function breakColumns(text: string, max: number): readonly string[] {
  if (displayWidth(text) <= max) return [text];
  const pieces: string[] = [];
  let piece = '';
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    const wide = graphemeWidth(segment);
    if (piece !== '' && width + wide > max) {
      pieces.push(piece);
      piece = '';
      width = 0;
    }
    piece += segment;
    width += wide;
  }
  return [...pieces, piece];
}

/** Fills up with spaces to `width` columns, on the right or on the left. */
export function padColumns(text: string, width: number, side: 'left' | 'right' = 'right'): string {
  const fill = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return side === 'left' ? `${fill}${text}` : `${text}${fill}`;
}
