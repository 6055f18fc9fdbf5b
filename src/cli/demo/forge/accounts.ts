// Accounts and permissions of the embedded forge.

export type Role = 'admin' | 'write' | 'triage' | 'read' | 'none';

export type Account = {
  readonly login: string;
  readonly role: Role;
  readonly type: 'User' | 'Bot';
  /** null: no request can authenticate as this account. */
  readonly token: string | null;
  /** Permissions that its token lacks. */
  readonly withheld?: readonly ('checks' | 'statuses')[];
};

export class Accounts {
  readonly #accounts: readonly Account[];
  /** Tokens that are valid for a while. */
  readonly #lent = new Map<string, { readonly account: Account; readonly expiresAt: number }>();

  constructor(accounts: readonly Account[]) {
    this.#accounts = accounts;
  }

  get all(): readonly Account[] {
    return this.#accounts;
  }

  named(login: string): Account | undefined {
    return this.#accounts.find((account) => account.login.toLowerCase() === login.toLowerCase());
  }

  /** The account of an `Authorization` header: scheme token or bearer, or the password of basic authentication. */
  behind(header: string | undefined): Account | undefined {
    const [scheme = '', value = ''] = (header ?? '').split(' ');
    const token =
      scheme.toLowerCase() === 'basic'
        ? Buffer.from(value, 'base64').toString('utf8').split(':').slice(1).join(':')
        : value;
    const lent = this.#lent.get(token);
    if (lent !== undefined) return lent.expiresAt > Date.now() ? lent.account : undefined;
    return token === '' ? undefined : this.#accounts.find((account) => account.token === token);
  }

  /** @param expiresAt ms since the epoch */
  lend(account: Account, token: string, expiresAt: number): void {
    this.#lent.set(token, { account, expiresAt });
  }

  /** Every token that was lent ends now. */
  endLoans(): void {
    for (const [token, { account }] of this.#lent) this.#lent.set(token, { account, expiresAt: 0 });
  }

  mayWrite(account: Account | undefined): boolean {
    return account?.role === 'admin' || account?.role === 'write';
  }

  mayTriage(account: Account | undefined): boolean {
    return this.mayWrite(account) || account?.role === 'triage';
  }
}
