// The repository's template for pull requests, on the default branch.

import type { Mirror } from './mirror/mirror.ts';

const TEMPLATES = [
  '.github/pull_request_template.md',
  '.github/PULL_REQUEST_TEMPLATE.md',
  'docs/pull_request_template.md',
  'pull_request_template.md',
  'PULL_REQUEST_TEMPLATE.md',
];

export async function readTemplate(mirror: Mirror, signal: AbortSignal): Promise<string | null> {
  for (const path of TEMPLATES) {
    const text = await mirror.readFile(path, signal);
    if (text !== null) return text;
  }
  return null;
}
