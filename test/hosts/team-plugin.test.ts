// The packed plugin, loaded beside a project, mostly one that nothing was installed into: a team builds a SPEC with it. What hangs on the
// resident server elsewhere is a program for each call here, since one file of hooks serves all versions. That each version reads
// that file is held in arguments.test.ts; the versions that are missing here build the same in team-run.test.ts.

import test from 'node:test';
import { availableHosts } from '../support/host.ts';
import { buildsSpec } from '../support/run-story.ts';

for (const version of availableHosts(['2.1.100', '2.1.331']))
  test(`${version}: with the plugin alone a team builds a SPEC, and the rules hold`, (t) =>
    buildsSpec(t, version, 'plugin'));

for (const version of availableHosts(['2.1.331']))
  test(`${version}: the plugin beside an installation is in nobody's way`, (t) => buildsSpec(t, version, 'both'));
