// The four kinds of projects, measured where a lead has finished work measured: the same is found there.

import { dirname } from 'node:path';
import { go, node, python, rust, testKind } from '../support/check-cases.ts';
import { gateSandbox } from '../support/gate-sandbox.ts';

for (const kind of [node, go, python, rust])
  testKind({ ...kind, name: `${kind.name}, in its room` }, async (t, root, bin) => {
    const { open } = await gateSandbox(t, root, dirname(root), { PATH: `${bin}:${process.env.PATH}` });
    return open();
  });
