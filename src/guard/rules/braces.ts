// Alternatives in a glob: `src/{api,db}/**` is two globs.

/** All globs that one with alternatives stands for; one that has none, as it is. */
export function expandBraces(glob: string): readonly string[] {
  const group = firstGroup(glob);
  if (group === null) return [glob];
  const [start, end, parts] = group;
  return parts.flatMap((part) => expandBraces(`${glob.slice(0, start)}${part}${glob.slice(end)}`));
}

/** Where the first group of alternatives stands, and these. */
function firstGroup(glob: string): readonly [number, number, readonly string[]] | null {
  let depth = 0;
  let start = 0;
  let from = 0;
  let parts: string[] = [];
  for (let at = 0; at < glob.length; at += 1) {
    const char = glob[at];
    if (char === '\\') at += 1;
    else if (char === '{') {
      if (depth === 0) [start, from, parts] = [at, at + 1, []];
      depth += 1;
    } else if (depth > 0 && (char === '}' || char === ',')) {
      if (depth === 1) {
        parts.push(glob.slice(from, at));
        from = at + 1;
      }
      if (char === '}') depth -= 1;
      if (depth === 0 && parts.length > 1) return [start, at + 1, parts];
    }
  }
  return null;
}
