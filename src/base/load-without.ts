// Packages, loaded without a part of them that nothing here calls.

import { createRequire, Module } from 'node:module';

const load = createRequire(import.meta.url);

/**
 * Loads a package while something else stands in the place of one part. Others that need that part get it.
 * @param part as the package itself would ask for it
 */
export function loadWithout(name: string, part: string, standIn: object): unknown {
  const { cache } = load;
  const path = createRequire(load.resolve(name)).resolve(part);
  const known = cache[path];
  cache[path] = Object.assign(new Module(path), { exports: standIn, loaded: true });
  try {
    return load(name);
  } finally {
    if (known === undefined) delete cache[path];
    else cache[path] = known;
  }
}
