// Checks of the hosting credential while the daemon starts.

import type { Isolation } from '../agents/isolation.ts';
import type { Logger } from '../base/ports.ts';
import { messageIn, refusal } from '../base/rules/codes.ts';
import type { Environment } from '../base/rules/environment.ts';
import { failure } from '../base/rules/errors.ts';
import { clientStatus, exposedIn, type HostingCredential } from '../daemon/github/credential.ts';
import { COMPOSE_CODES } from './rules/compose-codes.ts';

/** A login that the client itself calls broken would fail at every request. */
export async function requireLogin(host: string, env: Environment): Promise<void> {
  const status = await clientStatus(host, env);
  if (!status.ok) throw failure(COMPOSE_CODES.login_broken, { host, said: status.says });
}

/** Says, once the daemon has begun, whether the client is logged in, and what would surprise later: a token that other processes show. */
export async function checkCredential(
  credential: HostingCredential,
  host: string,
  env: Environment,
  log: Logger,
  begun: Promise<void>,
  probing: Promise<Isolation>,
  signal: AbortSignal,
): Promise<void> {
  // With an App, nothing is asked of the client.
  const asked = credential.login === null ? clientStatus(host, env) : null;
  // Isolated agents see no process but their own.
  const isOpen = await probing.then(
    (isolation) => !isolation.active,
    () => false,
  );
  const seen = isOpen ? exposedIn(credential.inEnvironment) : [];
  await begun;
  if (seen.length > 0) {
    const processes = seen.slice(0, 5).map(String);
    log.log('warn', 'serve', refusal(COMPOSE_CODES.token_readable_by_others, { processes }));
  }
  const status = await asked;
  if (status?.ok === false && !signal.aborted)
    log.log(
      'warn',
      'serve',
      messageIn(refusal(COMPOSE_CODES.login_broken, { host, said: status.says, source: credential.source })),
    );
}
