import { node, python, testKind } from '../support/check-cases.ts';

const OWN_COMMANDS = ['a lint error', 'a security finding', 'performance over its budget'];

testKind(node);
// What is measured by a command of the project's own is the same for every kind.
testKind({ ...python, cases: python.cases.filter(({ name }) => !OWN_COMMANDS.includes(name)) });
