// Gray-matter without js-yaml: front matter is parsed by `yaml`, and js-yaml takes most of the time that gray-matter takes to load.

import { createRequire, Module } from 'node:module';
import type Matter from 'gray-matter';

const load = createRequire(import.meta.url);

function unused(): never {
  throw new Error('gray-matter was called without the parser of YAML that stands in for js-yaml');
}

/** While it is loaded, functions that refuse stand in the place of its js-yaml. Others that need that one get it. */
function loadMatter(): typeof Matter {
  const { cache } = load;
  const path = createRequire(load.resolve('gray-matter')).resolve('js-yaml');
  const known = cache[path];
  cache[path] = Object.assign(new Module(path), { exports: { safeLoad: unused, safeDump: unused }, loaded: true });
  try {
    return load('gray-matter');
  } finally {
    if (known === undefined) delete cache[path];
    else cache[path] = known;
  }
}

export const matter = loadMatter();
