// Feed of state changes as events of bounded size, built once for all readers and kept for those that reconnect.

/** Maximum size of an event. */
export const EVENT_MAX_BYTES = 10 * 1024;
/** Maximum size of all kept changes. */
const KEPT_BYTES = 512 * 1024;
/** Reserve for the parts of an event beside its items. */
const FRAME_BYTES = 256;

/** JSON values by their keys. */
export type Frame = ReadonlyMap<string, string>;

type Kind = 'snapshot' | 'change';
type Item = { readonly list: 'set' | 'removed' | 'fetch'; readonly text: string; readonly bytes: number };
type Change = { readonly number: number; readonly text: string; readonly bytes: number };

function itemOf(list: Item['list'], key: string, value?: string): Item {
  const text = value === undefined ? JSON.stringify(key) : `${JSON.stringify(key)}:${value}`;
  const bytes = Buffer.byteLength(text) + 1;
  // Readers fetch a value that is too large for an event.
  return bytes > EVENT_MAX_BYTES - FRAME_BYTES ? itemOf('fetch', key) : { list, text, bytes };
}

function dataOf(now: string, items: readonly Item[], isLast: boolean): string {
  const of = (list: Item['list']) => items.filter((item) => item.list === list).map(({ text }) => text);
  return `{"now":${JSON.stringify(now)},"set":{${of('set').join(',')}},"removed":[${of('removed').join(',')}],"fetch":[${of('fetch').join(',')}],"last":${isLast}}`;
}

/** Splits items into events that they fit into; at least one event. */
function packed(items: readonly Item[]): readonly (readonly Item[])[] {
  const events: Item[][] = [[]];
  let room = EVENT_MAX_BYTES - FRAME_BYTES;
  for (const item of items) {
    if (item.bytes > room) {
      events.push([]);
      room = EVENT_MAX_BYTES - FRAME_BYTES;
    }
    events.at(-1)?.push(item);
    room -= item.bytes;
  }
  return events;
}

/** Only the last event has the id, so that a reader that got a part of them gets all of them again. */
function eventsOf(kind: Kind, id: string, now: string, items: readonly Item[]): string {
  const parts = packed(items);
  return parts
    .map((part, index) => {
      const isLast = index === parts.length - 1;
      return `${isLast ? `id: ${id}\n` : ''}event: ${index === 0 ? kind : 'change'}\ndata: ${dataOf(now, part, isLast)}\n\n`;
    })
    .join('');
}

export class Feed {
  readonly #name: string;
  #frame: Frame = new Map();
  #now = '';
  #number = 0;
  #changes: readonly Change[] = [];
  #bytes = 0;
  /** Built on demand. */
  #snapshot: string | undefined;

  /** @param name unique among all feeds, those of earlier processes included */
  constructor(name: string) {
    this.#name = name;
  }

  /** Event id of a reader that has got everything so far. */
  get at(): string {
    return `${this.#name}-${this.#number}`;
  }

  /** Takes the next state. */
  take(frame: Frame, now: string): void {
    const items = [
      ...[...this.#frame.keys()].filter((key) => !frame.has(key)).map((key) => itemOf('removed', key)),
      ...[...frame]
        .filter(([key, value]) => this.#frame.get(key) !== value)
        .map(([key, value]) => itemOf('set', key, value)),
    ];
    this.#frame = frame;
    this.#now = now;
    this.#snapshot = undefined;
    if (items.length === 0) return;
    this.#number += 1;
    const text = eventsOf('change', this.at, now, items);
    const bytes = Buffer.byteLength(text);
    this.#changes = [...this.#changes, { number: this.#number, text, bytes }];
    this.#bytes += bytes;
    while (this.#bytes > KEPT_BYTES) {
      this.#bytes -= this.#changes[0]?.bytes ?? 0;
      this.#changes = this.#changes.slice(1);
    }
  }

  /** Events of the whole state, for a new reader. */
  snapshot(): string {
    if (this.#snapshot === undefined) {
      const items = [...this.#frame].map(([key, value]) => itemOf('set', key, value));
      this.#snapshot = eventsOf('snapshot', this.at, this.#now, items);
    }
    return this.#snapshot;
  }

  /** Events that a reader with this id lacks; the snapshot when they are no longer kept, or are longer than it. */
  since(at: string | undefined): string {
    if (at === this.at) return '';
    const number = at?.startsWith(`${this.#name}-`) === true ? Number(at.slice(this.#name.length + 1)) : Number.NaN;
    const missed = this.#changes.filter((change) => change.number > number);
    const isWhole = missed.length > 0 && missed.length === this.#number - number;
    if (!isWhole) return this.snapshot();
    const text = missed.map((change) => change.text).join('');
    return missed.length > 1 && text.length > this.snapshot().length ? this.snapshot() : text;
  }
}
