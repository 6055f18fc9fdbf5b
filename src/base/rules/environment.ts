// Environment variables, as process.env holds them.

export type Environment = Readonly<Record<string, string | undefined>>;
