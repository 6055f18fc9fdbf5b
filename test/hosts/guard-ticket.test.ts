// Bash calls of teammates in the real host run under the write guard; the lead's and other calls run as ever, and the user's rules count.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test from 'node:test';
import { GUARD_LINE_CODES } from '../../src/guard/rules/guard-line-codes.ts';
import { ownLine } from '../support/codes.ts';
import { fields } from '../support/forge.ts';
import { availableHosts } from '../support/host.ts';
import { LEAD, playAgents } from '../support/played-agents.ts';
import { answerOf, mentions, refused, TeamHost } from '../support/team-host.ts';

const TEAM = 'tool-debug-shop';
const bash = (command: string) => ({ command, description: 'x' });

// On 2.1.33, which counts the user's rules otherwise where a command has a comment, our shell finds the ticket by the text of the call.
for (const version of availableHosts(['2.1.33', '2.1.100', '2.1.331']))
  test(`${version}: a teammate changes its own files alone, whatever program writes`, async (t) => {
    const host = new TeamHost(t, version);
    const settings = fields(JSON.parse(host.read('.claude/settings.json')));
    const permissions = { ...fields(settings.permissions), deny: ['Bash(touch:*)'] };
    host.write('.claude/settings.json', JSON.stringify({ ...settings, permissions }));
    host.write('src/api/users.js', 'users\n');
    host.write('Makefile', 'all:\n\tgit add -A\n');
    const seen = { writer: false, reader: false };
    host.write(
      'gen.mjs',
      "import { writeFileSync } from 'node:fs'; for (const f of process.argv.slice(2)) writeFileSync(f, 'made');",
    );
    const gen = 'node gen.mjs src/components/own.js src/api/users.js';
    const play = playAgents({
      [LEAD]: async (lead) => {
        const use = async (name: string, input: Readonly<Record<string, unknown>>) =>
          answerOf(await lead.use(host.ours(name), input));
        mentions((await lead.use('Bash', bash('echo plain > src/api/plain.js && cat src/api/plain.js'))).text, 'plain');
        await use('TeamCreate', { team_name: TEAM });
        const calls = [];
        for (const name of ['frontend-dev', 'hypothesis-1']) {
          const task = { subagent_type: `team-${name}`, team_name: TEAM, name, prompt: 'Work' };
          calls.push({ name: host.spawnTool, input: fields(fields((await use('Task', task)).call).input) });
        }
        await lead.all(calls);
        for (let rests = 0; rests < 60 && !(seen.writer && seen.reader); rests++) await lead.say('I wait.');
        mentions((await lead.use('Bash', bash('make all'))).text, 'git: Permission denied');
        await use('SendMessage', { recipient: 'all', type: 'shutdown_request', content: 'enough' });
        await use('TeamDelete', { team_name: TEAM, force: true });
        return 'That is all.';
      },
      'frontend-dev': async (agent) => {
        const { text, isError } = await agent.use('Bash', bash(gen));
        assert.ok(isError);
        mentions(text, "EACCES: permission denied, open 'src/api/users.js'");
        mentions(
          text,
          ownLine(GUARD_LINE_CODES.guard_write_owned, {
            path: 'src/api/users.js',
            owner: 'backend-dev',
            pattern: 'src/api/**',
          }),
        );
        mentions(agent.news.text, /SendMessage \{"recipient":"team-lead","type":"change_request"/);
        const quiet = await agent.use('Bash', bash(`${gen} 2>/dev/null; cd src; pwd`));
        mentions(quiet.text, host.path('src'));
        mentions((await agent.use('Bash', bash('cd src; echo first > ../notes.txt; cat ../notes.txt'))).text, 'first');
        refused(await agent.use('Bash', bash('touch components/denied.js')), 'denied');
        seen.writer = true;
        return 'Done.';
      },
      'hypothesis-1': async (agent) => {
        const { text } = await agent.use('Bash', bash('git status --short; node gen.mjs src/components/theirs.js'));
        mentions(text, ownLine(GUARD_LINE_CODES.guard_write_without_member, { path: 'src/components/theirs.js' }));
        mentions(agent.news.text, 'hypothesis-1 is read-only');
        seen.reader = true;
        return 'Done.';
      },
    });
    const { code, stderr } = await host.run('Do it.', play);
    assert.equal(code, 0, stderr);
    assert.equal(host.read('src/components/own.js'), 'made');
    assert.equal(host.read('src/api/users.js'), 'users\n');
    assert.equal(host.read('notes.txt'), 'first\n');
    for (const path of ['src/components/denied.js', 'src/components/theirs.js'])
      assert.ok(!existsSync(host.path(path)));
  });
