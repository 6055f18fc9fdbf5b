// Author of commits that the daemon makes, and of those of its agents where they name nobody.

export type Author = { readonly name: string; readonly email: string };

export const DEFAULT_AUTHOR: Author = { name: 'toolcrew', email: 'toolcrew@localhost' };

export function authorVariables({ name, email }: Author = DEFAULT_AUTHOR): Readonly<Record<string, string>> {
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}
