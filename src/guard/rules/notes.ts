// Lines of the write guard's log: fields between tabs, control characters as \xNN (see `note` in native/write-guard.c).

const WORDS = ['wrote', 'refused', 'lease', 'temporary', 'removed', 'git'] as const;

/**
 * `wrote`, `lease` and `removed` name a path; `refused` adds its owner and the pattern, '' where nobody owns it; `git` has the
 * call in `path` and the advice in `owner`. A lease is one that the first write to an unowned path took.
 */
export type GuardNote = {
  readonly kind: (typeof WORDS)[number];
  readonly path: string;
  readonly owner: string;
  readonly pattern: string;
};

function unescaped(field: string): string {
  return field.replace(/\\x([0-9a-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** Notes of whole lines; a line of a newer guard is left out. */
export function parseNotes(text: string): readonly GuardNote[] {
  return text.split('\n').flatMap((line) => {
    const [word = '', path = '', owner = '', pattern = ''] = line.split('\t').map(unescaped);
    const kind = WORDS.find((one) => one === word);
    return kind === undefined ? [] : [{ kind, path, owner, pattern }];
  });
}
