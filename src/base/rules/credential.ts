// The names under which a hosting credential may stand in an environment.

export const TOKEN_VARIABLES = ['GITHUB_TOKEN', 'GH_TOKEN', 'GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'] as const;

export function isTokenVariable(name: string): boolean {
  return TOKEN_VARIABLES.some((token) => token === name);
}
