// A team builds a SPEC in the real host program: from the typed command to the team's end, with all that is refused on the way. The
// versions in between do the same with the plugin, in team-plugin.test.ts.

import test from 'node:test';
import { availableHosts } from '../support/host.ts';
import { buildsSpec } from '../support/run-story.ts';

for (const version of availableHosts(['2.1.33', '2.1.177']))
  test(`${version}: a team builds a SPEC, and the rules hold in the host`, (t) => buildsSpec(t, version, 'installed'));
