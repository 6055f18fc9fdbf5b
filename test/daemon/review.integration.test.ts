// The review by the daemon as it runs: a second agent reads the workspace, cannot write to it, and its findings come back once.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { agentRunning } from '../support/agents.ts';
import { cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { FILES, gitAs, startForge } from '../support/forge.ts';

const ROLE = '---\nname: strict\ndescription: Reads.\n---\n\nYou are the strict one.\n';

/** The author commits in each attempt; the reviewer tries to write, to commit and to speak, and finds one thing. */
function scriptFor(directory: string): string {
  return `prompt=$(cat)
if [ -n "$TOOL_REVIEW" ]; then
  printf '%s\\n' "$prompt" > "$TMPDIR/prompt"
  cat work.txt > /dev/null
  for write in 'echo spoilt > work.txt' 'echo new > new.txt' 'git commit --allow-empty -qm "Mine"' 'tool issue comment 1 --body Hi'; do
    if sh -c "$write" 2>/dev/null; then echo "wrote: $write"; else echo "refused: $write"; fi
  done
  if grep -q 'You are the strict one' "$TMPDIR/prompt" && grep -q '^+work 1' "$TMPDIR/prompt"; then
    echo '{"findings":[{"file":"work.txt","line":1,"severity":"high","text":"One line is too few"}]}'
  fi
  exit 0
fi
printf '%s\\n' "$prompt" > ${directory}/prompt-$TOOL_ATTEMPT
printf 'spoilt' > .claude/agents/strict.md
echo "work $TOOL_ATTEMPT" >> work.txt
git add -A; git commit -qm "Work $TOOL_ATTEMPT"
echo "Attempt $TOOL_ATTEMPT is done"`;
}

for (const isolation of ['required', 'off'] as const) {
  test(`a reviewer reads and cannot write, with isolation ${isolation}; its finding goes to the author once`, async (t) => {
    const forge = await startForge(t, { ...FILES, '.claude/agents/strict.md': ROLE });
    const issue = await forge.open('Work');
    const daemon = await Daemon.create(t, forge);
    daemon.write(
      [agentRunning(scriptFor(daemon.directory), `isolation: ${isolation}`), 'review: { agent: strict }'].join('\n'),
    );
    daemon.start();
    await daemon.until('the issue is done and its workspace is gone', async () => {
      const { counts } = await daemon.state();
      return counts.completed === 1 && !existsSync(join(daemon.root, `issue-${issue}`));
    });
    assert.equal(await daemon.stop(), 143, daemon.log);

    const [pull] = await forge.pulls();
    const body = pull?.body ?? '';
    assert.match(body, /### Review\n\nThe agent strict read commit [0-9a-f]{12} against the issue\. Its findings:/);
    assert.match(body, /1\. \(high\) work\.txt:1: One line is too few/);
    assert.match(body, /The author answers:\n\n```text\n[\s\S]*Attempt 2 is done/);
    const prompt = (attempt: number) => join(daemon.directory, `prompt-${attempt}`);
    assert.doesNotMatch(readFileSync(prompt(1), 'utf8'), /One line is too few/);
    assert.match(readFileSync(prompt(2), 'utf8'), /One line is too few/);
    assert.equal(existsSync(prompt(3)), false);
    const output = readFileSync(join(daemon.stateDir, 'issues', String(issue), '1-1.log'), 'utf8');
    assert.equal(output.match(/^--- review \(strict\)$/gm)?.length, 1);
    assert.equal(output.match(/^refused: /gm)?.length, 4, output);
    assert.doesNotMatch(output, /^wrote: /m);
    const log = await gitAs(forge.bare, 'log', '--format=%s', `tool/issue-${issue}`);
    assert.match(log, /^Work 2\nWork 1\n/);
    // Nothing was left to save.
    const repository = join(daemon.stateDir, 'repo.git');
    const kept = (await gitAs(repository, 'for-each-ref', '--format=%(refname)', 'refs/toolcrew/saved')).trim();
    const diff = kept === '' ? '' : await gitAs(repository, 'show', '-p', kept);
    assert.deepEqual(await forge.comments(issue), [], `${diff}\n${daemon.log}`);
    const { stdout } = await runTool(['explain', String(issue), daemon.workflow], { env: cleanEnv(daemon.directory) });
    assert.match(stdout, /strict reviewed the work, findings: 1; the author gets them: work\.txt: One line is too few/);
  });
}

test('an unknown agent is refused at the start, with the names that are known', async (t) => {
  const forge = await startForge(t, { ...FILES, '.claude/agents/strict.md': ROLE });
  const daemon = await Daemon.create(t, forge);
  daemon.write([agentRunning('true'), 'review: { agent: nobody }'].join('\n'));
  daemon.start();
  assert.equal(await daemon.exit(), 2, daemon.log);
  assert.match(
    daemon.log,
    /review\.agent: expected the name of an agent, got "?nobody"?.*jarvis, reviewer, strict, team-/s,
  );
});

test('a review that finds the quota used up waits, and tool explain and the state say for what', async (t) => {
  const forge = await startForge(t, { ...FILES, '.claude/agents/strict.md': ROLE });
  const issue = await forge.open('Work');
  const daemon = await Daemon.create(t, forge);
  const limited = join(daemon.directory, 'limited');
  const script = `if [ -z "$TOOL_REVIEW" ]; then echo work > work.txt; git add -A; git commit -qm Work; exit 0; fi
if [ ! -e ${limited} ]; then touch ${limited}; echo 'Retry-After: 3600' >&2; exit 75; fi
echo '{"findings":[]}'`;
  daemon.write([agentRunning(script), 'review: { agent: strict }'].join('\n'));
  daemon.start();
  const row = async () => (await daemon.state()).running[0];
  await daemon.until('the review waits', async () => (await row())?.phase === 'review_waits');
  const waits = /waits for the quota of its runtime until 20/;
  assert.match((await row())?.last_error ?? '', waits);
  const env = cleanEnv(daemon.home);
  const { stdout } = await runTool(['explain', String(issue), daemon.workflow], { env });
  assert.match(stdout.split('\n').at(-2) ?? '', /^now: the review of attempt 1 waits: .*until 20/);
  assert.equal((await runTool(['retry', String(issue), daemon.workflow], { env })).code, 0);
  await daemon.until('the done label', async () => (await forge.labelsOf(issue)).join() === 'tool-done');
  assert.match((await forge.pulls())[0]?.body ?? '', /has no findings/);
  assert.equal(await daemon.stop(), 143, daemon.log);
});
