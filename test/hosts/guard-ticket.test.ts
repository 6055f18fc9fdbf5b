// A Bash call of the real host with a ticket runs under the write guard, one without a ticket as ever, and the user's rules count.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { marked, PREFIX_BEFORE, SHELL_PREFIX } from '../../src/domain/guard/ticket.ts';
import { fields } from '../support/forge.ts';
import { writeGuard } from '../support/guard-program.ts';
import { ticketIn } from '../support/guarded-project.ts';
import { availableHosts } from '../support/host.ts';
import { LEAD, playAgents } from '../support/played-agents.ts';
import { mentions, refused, TeamHost } from '../support/team-host.ts';
import { tempDir } from '../support/temp.ts';

const guard = writeGuard();

// On 2.1.33 a deny rule does not see a command with a mark: there a ticket is to be found by the text of the call.
for (const version of availableHosts(['2.1.100', '2.1.177', '2.1.331']))
  test(`${version}: a call with a ticket runs under the guard, one without as ever, and the user's deny rules count`, async (t) => {
    const host = new TeamHost(t, version);
    const settings = fields(JSON.parse(host.read('.claude/settings.json')));
    const permissions = { ...fields(settings.permissions), deny: ['Bash(touch:*)'] };
    const env = { ...fields(settings.env), CLAUDE_CODE_SHELL_PREFIX: SHELL_PREFIX };
    host.write('.claude/settings.json', JSON.stringify({ ...settings, permissions, env }));
    host.write('src/api/users.js', 'users\n');
    mkdirSync(host.path('src/components'), { recursive: true });
    const ticket = ticketIn(tempDir(t), guard, host.root, 'frontend-dev');
    const play = playAgents({
      [LEAD]: async (lead) => {
        const bash = (command: string) => lead.use('Bash', { command, description: 'x' });
        const both = 'echo own > src/components/own.js; echo "it\'s x" > src/api/users.js; exit 3';
        const guarded = await bash(marked(both, ticket.path));
        assert.ok(guarded.isError);
        for (const part of [/Exit code 3/, /src\/api\/users\.js: Permission denied/]) mentions(guarded.text, part);
        mentions(guarded.text, 'toolcrew: not written: src/api/users.js belongs to backend-dev (src/api/**)');
        mentions((await bash(marked('cd src; pwd', ticket.path))).text, host.path('src'));
        mentions((await bash('pwd')).text, host.path('src'));
        mentions((await bash('echo plain > api/users.js && echo done')).text, 'done');
        refused(await bash(marked('touch components/denied.js', ticket.path)), 'denied');
        // Without what a ticket names, calls go on.
        mentions((await bash(marked('echo "still here"', '/no/such/ticket'))).text, 'still here');
        return 'That is all.';
      },
    });
    const { code, stderr } = await host.run('Do it.', play);
    assert.equal(code, 0, stderr);
    assert.equal(host.read('src/components/own.js'), 'own\n');
    assert.equal(host.read('src/api/users.js'), 'plain\n');
    assert.ok(!existsSync(host.path('src/components/denied.js')));
    mentions(ticket.log(), /^refused\tsrc\/api\/users\.js\tbackend-dev\tsrc\/api\/\*\*$/m);
  });

for (const version of availableHosts(['2.1.331']))
  test(`${version}: a prefix that was set before is started with each call, under the guard too`, async (t) => {
    const host = new TeamHost(t, version);
    const settings = fields(JSON.parse(host.read('.claude/settings.json')));
    const directory = tempDir(t);
    const [before, seen] = [`${directory}/before`, `${directory}/seen`];
    writeFileSync(before, `#!/bin/sh\necho "$1 $2" >> ${seen}\nexec bash -c "$2"\n`, { mode: 0o755 });
    const env = {
      ...fields(settings.env),
      CLAUDE_CODE_SHELL_PREFIX: SHELL_PREFIX,
      [PREFIX_BEFORE]: `'${before}' --flag`,
    };
    host.write('.claude/settings.json', JSON.stringify({ ...settings, env }));
    host.write('src/api/users.js', 'users\n');
    const ticket = ticketIn(tempDir(t), guard, host.root, 'frontend-dev');
    const play = playAgents({
      [LEAD]: async (lead) => {
        const bash = (command: string) => lead.use('Bash', { command, description: 'x' });
        mentions((await bash('echo "plain  call"')).text, 'plain  call');
        mentions((await bash(marked('echo x > src/api/users.js', ticket.path))).text, 'Permission denied');
        return 'That is all.';
      },
    });
    const { code, stderr } = await host.run('Do it.', play);
    assert.equal(code, 0, stderr);
    const lines = readFileSync(seen, 'utf8');
    for (const part of [/^--flag .*plain {2}call/m, /^--flag .*users\.js/m]) mentions(lines, part);
    assert.equal(host.read('src/api/users.js'), 'users\n');
  });
