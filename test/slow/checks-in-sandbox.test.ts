// Projects measured where a lead has finished work measured: the same is found there. A sandbox brings programs, packages, a home and
// what a command writes; what else a gate finds is in checks.test.ts and test/gate/run/fixtures.integration.test.ts.

import { dirname } from 'node:path';
import { go, type Kind, node, python, rust, testKind } from '../support/check-cases.ts';
import { gateSandbox } from '../support/gate-sandbox.ts';

/** Of each kind, what goes wrong where the sandbox lacks something. */
const KINDS: readonly (readonly [Kind, readonly string[]])[] = [
  [node, ['a failing test', 'a linter that is not there']],
  [go, ['a failing test']],
  [python, []],
  [rust, ['coverage below the target']],
];

for (const [kind, names] of KINDS)
  testKind(
    { ...kind, name: `${kind.name}, in its sandbox`, cases: kind.cases.filter(({ name }) => names.includes(name)) },
    async (t, root, bin) => {
      const { open } = await gateSandbox(t, root, dirname(root), { PATH: `${bin}:${process.env.PATH}` });
      return open();
    },
  );
