export async function doctorCommand(_p: string, _o: unknown): Promise<void> {}
