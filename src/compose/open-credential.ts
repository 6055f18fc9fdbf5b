// Opens the hosting credential that the workflow file names: a token, or the tokens of an App.

import { packageVersion } from '../base/package-version.ts';
import type { Clock } from '../base/ports.ts';
import type { Refusal } from '../base/rules/codes.ts';
import type { Environment } from '../base/rules/environment.ts';
import { readAppKey, variablesWithKey } from '../daemon/github/app-key.ts';
import { type AuthorityFile, apiAuthorities } from '../daemon/github/authority.ts';
import { hostOf } from '../daemon/github/clone-url.ts';
import { Credential, type HostingCredential, type TakenTokens } from '../daemon/github/credential.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';

/** Variables that hold a credential, beside those with fixed names. */
export function credentialVariables(
  { tracker: { tokenVariable, app } }: Workflow,
  env: Environment,
): readonly string[] {
  const token = tokenVariable === null ? [] : [tokenVariable];
  return app === null ? token : [...token, ...variablesWithKey(app, env)];
}

/** Throws a ToolError. */
export async function openCredential(
  { tracker }: Workflow,
  tokens: TakenTokens,
  options: {
    readonly authorities: readonly AuthorityFile[];
    readonly env: Environment;
    readonly clock: Clock;
    readonly warn: (what: Refusal) => void;
  },
): Promise<HostingCredential> {
  const { apiUrl, app, slug, tokenVariable } = tracker;
  const { env, clock, authorities, warn } = options;
  if (app === null) return Credential.find(tokenVariable, tokens, hostOf(apiUrl), env);
  const key = readAppKey(app, tokens);
  const { AppCredential } = await import('../daemon/github/app-credential.ts');
  const userAgent = `toolcrew/${packageVersion()}`;
  return AppCredential.open({
    id: app.id,
    key,
    slug,
    apiUrl,
    userAgent,
    authorities: apiAuthorities(authorities),
    env,
    clock,
    onUnrenewed: warn,
  });
}
