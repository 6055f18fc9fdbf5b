export async function logsCommand(_i: number, _p: string, _o: unknown): Promise<void> {}
