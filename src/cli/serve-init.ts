export async function serveInitCommand(_o: unknown): Promise<void> {}
