// A line in a changelog: once, under what was added, with everything else as it was.

import assert from 'node:assert/strict';
import test from 'node:test';
import { withAdded } from '../../../../src/team/rules/spec-documents/changelog.ts';

type Case = readonly [what: string, before: string, after: string | null];

const CASES: readonly Case[] = [
  [
    'below what was added before',
    '# C\n\n## [Unreleased]\n\n### Added\n\n- A\n  b\n\n### Fixed\n\n- F\n',
    '# C\n\n## [Unreleased]\n\n### Added\n\n- A\n  b\n- New (X)\n\n### Fixed\n\n- F\n',
  ],
  ['under a heading without entries', '## [Unreleased]\n\n### Added\n', '## [Unreleased]\n\n### Added\n\n- New (X)\n'],
  ['with a heading of its own', '## Unreleased\n\n## [1.0]\n', '## Unreleased\n\n### Added\n\n- New (X)\n\n## [1.0]\n'],
  [
    'not under that of a release',
    '## [Unreleased]\n## [1.0]\n### Added\n- A\n',
    '## [Unreleased]\n\n### Added\n\n- New (X)\n## [1.0]\n### Added\n- A\n',
  ],
  [
    'with the line ends that there are',
    '## [Unreleased]\r\n\r\n### Added\r\n\r\n- A\r\n',
    '## [Unreleased]\r\n\r\n### Added\r\n\r\n- A\r\n- New (X)\r\n',
  ],
  ['not twice', '## [Unreleased]\n\n### Added\n\n- Old words (X)\n', null],
  ['nowhere', '# C\n\n## [1.0]\n', null],
];

for (const [what, before, after] of CASES)
  test(`a line comes ${what}`, () => assert.equal(withAdded(before, 'New', 'X'), after));
