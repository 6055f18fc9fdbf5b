// HTML with every value escaped.

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup that may stand in a page as it is. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function escaped(value: unknown): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(escaped).join('');
  if (value === null || value === undefined || value === false) return '';
  return String(value).replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char);
}

/** A template tag: what is put in is escaped, unless it is markup itself. */
export function html(strings: TemplateStringsArray, ...values: readonly unknown[]): Html {
  let text = strings[0] ?? '';
  values.forEach((value, index) => {
    text += escaped(value) + (strings[index + 1] ?? '');
  });
  return new Html(text);
}

/** A link when the address is an http one, the text alone otherwise. */
export function link(url: string, text: string): Html {
  return /^https?:\/\//i.test(url) ? html`<a href="${url}" rel="noreferrer">${text}</a>` : html`${text}`;
}
