// Whether a terminal may be drawn on: a dumb one prints each control sequence as rubbish.

type Env = Readonly<Record<string, string | undefined>>;

function isDumb(env: Env): boolean {
  return env.TERM === 'dumb';
}

/** Whether lines may be drawn again in their place there. */
export function canRedraw(stream: { readonly isTTY?: boolean }, env: Env = process.env): boolean {
  return stream.isTTY === true && !isDumb(env);
}
