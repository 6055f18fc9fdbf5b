import { node, python, testKind } from '../support/check-cases.ts';

testKind(node);
testKind(python);
