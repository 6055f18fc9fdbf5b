// Opens the client of the hosting service with the credential, authorities and proxy of the process.

import { packageVersion } from '../base/package-version.ts';
import type { Clock } from '../base/ports.ts';
import type { Environment } from '../base/rules/environment.ts';
import { type AuthorityFile, apiAuthorities } from '../daemon/github/authority.ts';
import type { HostingClient } from '../daemon/github/client.ts';
import type { HostingCredential } from '../daemon/github/credential.ts';

export type HostingClientOptions = {
  readonly apiUrl: string;
  readonly credential: Pick<HostingCredential, 'token' | 'reject'>;
  readonly authorities: readonly AuthorityFile[];
  /** Names the proxy. */
  readonly env: Environment;
  readonly clock: Clock;
};

export async function openHostingClient(options: HostingClientOptions): Promise<HostingClient> {
  const { apiUrl, credential, authorities, env, clock } = options;
  const { HostingClient } = await import('../daemon/github/client.ts');
  return new HostingClient({
    apiUrl,
    token: () => credential.token(),
    onUnauthorized: () => credential.reject(),
    userAgent: `toolcrew/${packageVersion()}`,
    authorities: apiAuthorities(authorities),
    env,
    clock,
  });
}
