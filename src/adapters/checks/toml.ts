// The one place that knows the reader of TOML; it is loaded when there is something to read.

import { messageOf, ToolError } from '../../domain/errors.ts';

export async function readToml(text: string, name: string): Promise<unknown> {
  const { parse } = await import('smol-toml');
  try {
    return parse(text);
  } catch (error) {
    throw new ToolError('config', `${name}: expected TOML: ${messageOf(error).split('\n')[0]}`, { cause: error });
  }
}
