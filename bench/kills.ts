// The daemon killed at each moment of each effect: counted by the suite that does it.

import { spawnSync } from 'node:child_process';
import type { Row } from './figures.ts';

export function kills(): Row {
  const { stdout } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--test', '--test-reporter=tap', 'test/slow/kill.test.ts'],
    {
      encoding: 'utf8',
      env: { ...process.env, TOOLCREW_ALL: '1' },
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  const count = (name: string) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(stdout)?.[1] ?? 0);
  return {
    what: 'SIGKILL before, in and after each effect: one PR, one done label, nothing lost',
    figure: `${count('pass')} of ${count('tests')} moments`,
    floor: '–',
    target: 'every moment',
    met: count('tests') > 0 && count('pass') === count('tests'),
  };
}
