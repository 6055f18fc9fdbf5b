// Environment variables, as process.env holds them.

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that have a value. */
export function setVariables(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
