// The real host program plays an issue, against a scripted model on loopback.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { joined, wordsLike } from '../support/codes.ts';
import { Daemon } from '../support/daemon.ts';
import { startForge } from '../support/forge.ts';
import { availableHosts, HOST_VERSIONS, type HostVersion, hostProgram } from '../support/host.ts';
import { bash, ModelServer, say, steps } from '../support/model-server.ts';

const NASTY = ['/clear', '@secret.txt', '{{ issue.title }} $& $1', '<script>alert(1)</script>', '`rm -rf /`'].join(
  '\n',
);

/** Up to 2.1.177 what a session has started outlives it. */
const STOPPED: readonly HostVersion[] = ['2.1.33', '2.1.331'];
/** What all of them do alike. */
const NEWEST: HostVersion = '2.1.331';

for (const version of availableHosts(HOST_VERSIONS)) {
  const env = (url: string) => ({
    ANTHROPIC_API_KEY: 'sk-test',
    ANTHROPIC_BASE_URL: url,
    IS_SANDBOX: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  });
  const yaml = (more = '') =>
    `tool: { runtime: claude, agent: jarvis, command: ["${hostProgram(version)}"] }\nagent: { max_attempts: 2, max_retry_backoff_ms: 100 }\n${more}`;

  test(`${version}: from the label to the pull request, the text of the issue reaching the model as it is`, async (t) => {
    const forge = await startForge(t, { 'README.md': '# project\n', 'secret.txt': 'CONTENT-OF-THE-FILE\n' });
    const model = await ModelServer.start(
      t,
      steps([
        'tool issue show --json',
        'printf "export const greet = 1;\\n" > greet.js && git add -A && git commit -qm "Greet"',
        'tool pr create --title "Greet people" --body "As asked for." && tool issue done',
        say('The work is done.'),
      ]),
    );
    const issue = await forge.open('/help me', { body: NASTY });
    const daemon = await Daemon.start(t, forge, {
      yaml: yaml(),
      env: env(model.url),
      prompt: '{{ issue.body }}\n\n{{ issue.title }}',
    });
    await daemon.logged(`issue #${issue} state changed to tool-done`);
    const [pull] = await forge.pulls();
    assert.equal(pull?.title, 'Greet people');
    assert.equal(pull?.body, `As asked for.\n\nCloses #${issue}`);
    assert.deepEqual(await forge.labelsOf(issue), ['tool-done']);
    const main = model.requests.filter((request) => request.tools.includes('Bash'));
    const prompt = main[0]?.texts.flat().find((text) => text.includes('rm -rf'));
    assert.equal(prompt, `${NASTY}\n\n/help me`);
    assert.ok(
      !model.requests.some((request) => request.raw.includes('CONTENT-OF-THE-FILE')),
      'no file was attached for an @path in an issue',
    );
    assert.match(main.map((request) => request.system).join('\n'), /You handle one issue of this repository/);
    assert.match(main.at(-1)?.resultTexts[0] ?? '', /"title": "\/help me"/);
    const state = await daemon.state();
    const [done] = state.completed;
    assert.equal(done?.attempts, 1);
    assert.ok((done?.tokens.total_tokens ?? 0) >= 480, `${done?.tokens.total_tokens} tokens`);
    assert.ok((done?.cost_usd ?? 0) > 0, 'cost');
    t.diagnostic(`${done?.seconds} s, ${done?.tokens.total_tokens} tokens, $${done?.cost_usd}`);
  });

  if (STOPPED.includes(version))
    test(`${version}: a daemon that is stopped in the middle goes on with the session`, async (t) => {
      const forge = await startForge(t);
      const model = await ModelServer.start(t, (request) => {
        if (!request.tools.includes('Bash')) return say('aside');
        if (request.results === 0) return bash('echo first > first.txt', 0);
        if (!request.raw.includes('first-result-seen') && request.results === 1) return undefined;
        return say('never');
      });
      await forge.open('one');
      const daemon = await Daemon.start(t, forge, { yaml: yaml(), env: env(model.url) });
      await daemon.until(
        'two requests of the main conversation',
        () => model.requests.filter((request) => request.tools.includes('Bash')).length >= 2,
      );
      const session = (await daemon.state()).running[0]?.session_id;
      assert.ok(session);
      await daemon.stop();
      const before = model.requests.length;
      writeFileSync(join(daemon.directory, 'again'), '');
      daemon.start();
      await daemon.until('the next attempt', () =>
        model.requests.slice(before).some((request) => request.tools.includes('Bash')),
      );
      const again = model.requests.slice(before).find((request) => request.tools.includes('Bash'));
      assert.ok((again?.results ?? 0) >= 1, 'the history of the session is sent again');
      assert.equal((await daemon.state()).running[0]?.session_id, session);
    });

  if (version !== '2.1.33')
    test(`${version}: a used-up quota ends the attempt, and nothing starts until it is there again`, async (t) => {
      const forge = await startForge(t);
      const reset = Math.floor(Date.now() / 1000) + 3_600;
      const name = 'anthropic-ratelimit-unified';
      const limited = {
        status: 429,
        error: 'rate_limit_error',
        headers: {
          [`${name}-status`]: 'rejected',
          [`${name}-reset`]: String(reset),
          [`${name}-representative-claim`]: 'five_hour',
          [`${name}-5h-status`]: 'rejected',
          [`${name}-5h-reset`]: String(reset),
          'x-should-retry': 'false',
        },
      };
      const model = await ModelServer.start(t, () => limited);
      await forge.open('one');
      await forge.open('two');
      const { ANTHROPIC_API_KEY: _, ...rest } = env(model.url);
      // A subscription has quotas, a key has none.
      const login = { ...rest, CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-played' };
      const daemon = await Daemon.start(t, forge, { yaml: yaml(), env: login });
      await daemon.logged(
        joined(
          /attempt 1 on issue #1 found its runtime unavailable: .*hit your .*limit.*/,
          wordsLike(WORK_CODES.runtime_quota_spent),
        ),
      );
      const waits = wordsLike(WORK_CODES.issue_waits_for_quota, { runtime: 'claude' });
      await daemon.until('the other issue waits for the quota', async () =>
        (await daemon.state()).queued.some(({ reason }) => waits.test(reason)),
      );
      const { retrying } = await daemon.state();
      const due = Date.parse(retrying[0]?.due_at ?? '') / 1000 - reset;
      assert.ok(due >= 0 && due <= 60, `${due} s after the quota is there again`);
      assert.equal(daemon.log.match(/starting on issue/g)?.length, 1);
    });

  if (version !== NEWEST) continue;

  test(`${version}: a turn without a commit is followed by another in the same session`, async (t) => {
    const forge = await startForge(t);
    const prompts: string[] = [];
    const model = await ModelServer.start(t, (request) => {
      if (!request.tools.includes('Bash')) return say('aside');
      const last = request.texts.at(-1) ?? [];
      if (last.length > 0) prompts.push(last[0] ?? '');
      if (request.results === 0) return bash('ls', 0);
      if (request.results === 1 && !request.raw.includes('Nothing is committed')) return say('I have looked around.');
      if (request.results === 1) return bash('echo x > x.txt && git add -A && git commit -qm "Add x"', 1);
      return say('Committed.');
    });
    await forge.open('one');
    const daemon = await Daemon.start(t, forge, { yaml: yaml(), env: env(model.url) });
    await daemon.logged('state changed to tool-done');
    const state = await daemon.state();
    assert.equal(state.completed[0]?.attempts, 1);
    const [pull] = await forge.pulls();
    assert.equal(pull?.title, 'Add x');
    t.diagnostic(`tokens ${state.completed[0]?.tokens.total_tokens}, cost ${state.completed[0]?.cost_usd}`);
  });

  test(`${version}: bad credentials end early and cost the issue no attempt`, async (t) => {
    const forge = await startForge(t);
    const model = await ModelServer.start(t, () => ({ status: 401, error: 'authentication_error' }));
    const issue = await forge.open('one');
    const daemon = await Daemon.start(t, forge, { yaml: yaml(), env: env(model.url) });
    await daemon.logged(/attempt 1 on issue #1 found its runtime unavailable: .*(401|Invalid API key|authentication)/i);
    assert.deepEqual(await forge.labelsOf(issue), ['tool-todo']);
    t.diagnostic(`${model.requests.length} requests`);
    assert.ok(model.requests.length <= 10);
  });
}
