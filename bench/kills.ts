// The daemon killed at each moment of each effect: counted by the suite that does it.

import { execaSync } from 'execa';
import type { Row } from './figures.ts';

export function kills(): Row {
  const args = ['--import', 'tsx', '--test', '--test-reporter=tap', 'test/slow/kill.test.ts'];
  const { stdout } = execaSync(process.execPath, args, { env: { TOOLCREW_ALL: '1' }, reject: false });
  const count = (name: string) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(stdout)?.[1] ?? 0);
  return {
    what: 'SIGKILL before, in and after each effect: one PR, one done label, nothing lost',
    figure: `${count('pass')} of ${count('tests')} moments`,
    floor: '–',
    target: 'every moment',
    met: count('tests') > 0 && count('pass') === count('tests'),
  };
}
