import assert from 'node:assert/strict';
import test from 'node:test';
import { blockersIn } from '../../../src/daemon/rules/blocker-text.ts';

const HOME = 'https://host.example/Owner/Repo';
const named = (body: string) => [...blockersIn(body, `${HOME}/issues/1`)];

const CASES: readonly [body: string, expected: readonly number[]][] = [
  ['Nothing here, see #3.', []],
  ['Blocked by #3', [3]],
  ['blocked by: #3, #7 and #9.', [3, 7, 9]],
  ['DEPENDS ON #3 & #7 #9', [3, 7, 9]],
  ['Depends on #3, #7, and #9; fixes #11', [3, 7, 9]],
  ['Blocked by #3,\n#7', [3, 7]],
  ['Blocked by\n#3\n#7 is something else', [3]],
  ['Blocked by\n\n#3', []],
  ['Blocked by #3\r\n\r\nDepends on #4\r\n', [3, 4]],
  ['Blocked by #3 and depends on #3', [3]],
  ['Blocked by the work in #3', []],
  ['It unblocked by #3, and is not-blocked by #4', []],
  ['Blocked by #3a, blocked by #0, blocked by #7', [7]],
  ['Blocked by owner/repo#3 and OWNER/REPO#4', [3, 4]],
  ['Blocked by other/repo#5, #7', [7]],
  [`Blocked by ${HOME}/issues/3`, [3]],
  [`Blocked by <${HOME}/pull/4>, https://HOST.example/owner/repo/issues/5#issuecomment-12.`, [4, 5]],
  ['Blocked by https://host.example/other/repo/issues/3 and https://elsewhere.example/Owner/Repo/issues/4', []],
  [`Blocked by ${HOME}/issues/3/events`, []],
  [`**Blocked by:** [#3](${HOME}/issues/3), **#4**`, [3, 4]],
  ['## Depends on #3\nBlocked by #4', [3, 4]],
  ['- [ ] blocked by #3\n- depends on #4\n  and #5', [3, 4, 5]],
  ['- blocked by #3,\n- #4', [3]],
  ['Use `blocked by #3` for that', []],
  ['Blocked by `#3` #4', []],
  ['Two ``ticks ` blocked by #3`` and one ` blocked by #4', [4]],
  ['An \\` escaped tick, blocked by #3, and another `', [3]],
  ['```\nblocked by #3\n```\nblocked by #4', [4]],
  ['````md\n```\nblocked by #3\n```\n````\nblocked by #4', [4]],
  ['~~~\nblocked by #3', []],
  ['- ```\n  blocked by #3\n  ```\n- blocked by #4', [4]],
  ['``` is not ``` a fence: blocked by #3', [3]],
  ['> blocked by #3\nblocked by #4\n\nblocked by #5', [5]],
  ['> blocked by #3\n- blocked by #4', [4]],
  ['> ```\n> x\n> ```\nblocked by #4', [4]],
  ['- > blocked by #3\n- blocked by #4', [4]],
  ['<!-- blocked by #3 -->', []],
  ['<!--\nblocked by #3\n\nblocked by #4\n--> blocked by #5', [5]],
  ['Blocked by <!-- #3 --> #4', [4]],
  ['A comment <!-- blocked by #3\nblocked by #4 --> ends. Blocked by #5', [5]],
  ['```\n<!--\n```\nblocked by #3', [3]],
];

for (const [body, expected] of CASES)
  test(`blockers in ${JSON.stringify(body)}`, () => {
    assert.deepEqual(named(body), expected);
  });

test('fifty blockers of a text count', () => {
  const all = Array.from({ length: 80 }, (_, index) => index + 1);
  assert.deepEqual(named(`Blocked by ${all.map((number) => `#${number}`).join(', ')}`), all.slice(0, 50));
});
