import { go, rust, testKind } from '../../support/check-cases.ts';

// The toolchains are played by programs that print what the real ones printed on the same code.
testKind(go);
testKind(rust);
