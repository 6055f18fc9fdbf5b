// Accounts and permissions of the embedded forge.

export type Role = 'admin' | 'write' | 'triage' | 'read' | 'none';

export type Account = {
  readonly login: string;
  readonly role: Role;
  readonly type: 'User' | 'Bot';
  /** null: no request can authenticate as this account. */
  readonly token: string | null;
};

export class Accounts {
  readonly #accounts: readonly Account[];

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
    return token === '' ? undefined : this.#accounts.find((account) => account.token === token);
  }

  mayWrite(account: Account | undefined): boolean {
    return account?.role === 'admin' || account?.role === 'write';
  }

  mayTriage(account: Account | undefined): boolean {
    return this.mayWrite(account) || account?.role === 'triage';
  }
}
