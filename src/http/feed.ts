// What changed between one state and the next, as events of bounded size: made once for all readers, kept for those who come back.

/** No event is longer. */
export const EVENT_MAX_BYTES = 10 * 1024;
/** So much is kept of the changes before. */
const KEPT_BYTES = 512 * 1024;
/** Room for what stands in an event beside its items. */
const FRAME_BYTES = 256;

/** JSON values by their keys. */
export type Frame = ReadonlyMap<string, string>;

type Kind = 'snapshot' | 'change';
type Item = { readonly list: 'set' | 'removed' | 'fetch'; readonly text: string; readonly bytes: number };
type Change = { readonly number: number; readonly text: string; readonly bytes: number };

function itemOf(list: Item['list'], key: string, value?: string): Item {
  const text = value === undefined ? JSON.stringify(key) : `${JSON.stringify(key)}:${value}`;
  const bytes = Buffer.byteLength(text) + 1;
  // Who wants what fits into no event asks for it.
  return bytes > EVENT_MAX_BYTES - FRAME_BYTES ? itemOf('fetch', key) : { list, text, bytes };
}

function dataOf(now: string, items: readonly Item[], isLast: boolean): string {
  const of = (list: Item['list']) => items.filter((item) => item.list === list).map(({ text }) => text);
  return `{"now":${JSON.stringify(now)},"set":{${of('set').join(',')}},"removed":[${of('removed').join(',')}],"fetch":[${of('fetch').join(',')}],"last":${isLast}}`;
}

/** Items by events that they fit into, each event with at least one. */
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

/** The last of the events has the id: whoever got a part of them gets all of them again. */
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
  /** Made when somebody needs it. */
  #snapshot: string | undefined;

  /** @param name no other feed, of an earlier process either, has this one */
  constructor(name: string) {
    this.#name = name;
  }

  /** Where a reader stands that has got everything so far. */
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

  /** All that stands, for a reader that has nothing of it. */
  snapshot(): string {
    if (this.#snapshot === undefined) {
      const items = [...this.#frame].map(([key, value]) => itemOf('set', key, value));
      this.#snapshot = eventsOf('snapshot', this.at, this.#now, items);
    }
    return this.#snapshot;
  }

  /** What a reader needs that stands there; the snapshot where the changes since are not kept, or are longer. */
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
