// Gray-matter without js-yaml: front matter is parsed by `yaml`, and js-yaml takes most of the time that gray-matter takes to load.

import type Matter from 'gray-matter';
import { loadWithout } from './load-without.ts';

function unused(): never {
  throw new Error('gray-matter was called without the parser of YAML that stands in for js-yaml');
}

export const matter = loadWithout('gray-matter', 'js-yaml', { safeLoad: unused, safeDump: unused }) as typeof Matter;
