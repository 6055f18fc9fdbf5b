// A team builds a SPEC in the real host program: from the typed command to the team's end, with all that is refused on the way.

import test from 'node:test';
import { availableHosts, HOST_VERSIONS } from '../support/host.ts';
import { buildsSpec } from '../support/run-story.ts';

for (const version of availableHosts(HOST_VERSIONS))
  test(`${version}: a team builds a SPEC, and the rules hold in the host`, (t) => buildsSpec(t, version, 'installed'));
