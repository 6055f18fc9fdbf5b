// Git history of the work on a SPEC: base commit, changed files, and test lines that name requirements.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { failure } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import { git, tryGit } from '../../git/git.ts';
import { GIT_CODES } from '../../git/rules/git-codes.ts';
import { areaOf } from '../../guard/rules/areas.ts';
import { SPEC_CODES } from '../rules/codes/spec-codes.ts';
import { commitCommand, specDirectory } from '../rules/spec-documents/spec.ts';
import { mayHoldTests, type SyncFacts, type TestLine } from '../rules/spec-documents/sync.ts';

type WorkBase =
  | { readonly ok: true; readonly base: string; readonly words: string }
  | { readonly ok: false; readonly refusal: Refusal };

function refused(one: Refusal): WorkBase {
  return { ok: false, refusal: one };
}

/** Enough for all paths and matching lines of a large project. */
const MAX_BYTES = 64 * 1024 * 1024;
const SHOWN = 10;

const DEFAULTS = ['origin/main', 'origin/master', 'main', 'master'];

export function createSpecHistory(root: string) {
  const run = (args: readonly string[]) => git(args, { cwd: root, maxBytes: MAX_BYTES });
  const commitOf = async (name: string): Promise<string | null> => {
    const { exitCode, stdout } = await tryGit(
      ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`],
      {
        cwd: root,
      },
    );
    return exitCode === 0 ? stdout.trim() : null;
  };
  /** Whether `one` is `other` or an ancestor of it; false for a tree, which is no commit. */
  const isAncestor = async (one: string, other: string): Promise<boolean> =>
    (await tryGit(['merge-base', '--is-ancestor', one, other], { cwd: root })).exitCode === 0;
  const split = (text: string) => [...new Set(text.split('\0').filter((path) => path !== ''))].sort();

  const defaultBranch = async (): Promise<string | null> => {
    const { exitCode, stdout } = await tryGit(['symbolic-ref', '--quiet', '--short', 'refs/remotes/origin/HEAD'], {
      cwd: root,
    });
    const names = [...(exitCode === 0 ? [stdout.trim()] : []), ...DEFAULTS];
    for (const name of names) if ((await commitOf(name)) !== null) return name;
    return null;
  };

  /** Base without a branch: the parent of the first commit that names the SPEC or adds its file. */
  const beforeFirst = async (id: string): Promise<Extract<WorkBase, { ok: true }> | null> => {
    const named = await run(['log', '--reverse', '--format=%H', '--fixed-strings', `--grep=${id}`, 'HEAD', '--']);
    const brought = await run(['log', '--reverse', '--format=%H', 'HEAD', '--', `${specDirectory(id)}/spec.md`]);
    const firsts = [named, brought].flatMap((text) => text.split('\n').slice(0, 1)).filter((one) => one !== '');
    const [one, other] = firsts;
    if (one === undefined) return null;
    const first = other !== undefined && (await isAncestor(other, one)) ? other : one;
    const parent = await commitOf(`${first}^`);
    const base = parent ?? (await git(['hash-object', '-t', 'tree', '--stdin'], { cwd: root, input: '' })).trim();
    return { ok: true, base, words: `the commit before ${first.slice(0, SHOWN)}` };
  };

  /** Base on the default branch: the result of `beforeFirst` or the start of a team, whichever is older. */
  const onDefault = async (id: string, head: string, begun: readonly string[]): Promise<WorkBase> => {
    const named = await beforeFirst(id);
    const commits: string[] = [];
    for (const commit of begun)
      if ((await commitOf(commit)) !== null && (await isAncestor(commit, head))) commits.push(commit);
    const [began] = commits;
    const isOlder =
      named === null || (began !== named.base && began !== undefined && (await isAncestor(began, named.base)));
    if (!isOlder) return named;
    if (began === undefined)
      return refused(refusal(SPEC_CODES.sync_base_unknown, { spec: id, command: commitCommand(id) }));
    if (began === head) {
      const values = { spec: id, commit: began.slice(0, SHOWN), command: commitCommand(id) };
      return refused(refusal(SPEC_CODES.sync_nothing_committed, values));
    }
    return { ok: true, base: began, words: `${began.slice(0, SHOWN)}, where a team began to build it` };
  };

  return {
    /** @param begun commits at which teams began to build the SPEC, oldest first */
    base: async (id: string, wanted: string | null, begun: readonly string[]): Promise<WorkBase> => {
      const head = await commitOf('HEAD');
      if (head === null) return refused(refusal(SPEC_CODES.sync_no_commit, {}));
      if (wanted !== null) {
        const base = await commitOf(wanted);
        if (base === null) return refused(refusal(SPEC_CODES.sync_base_invalid, { got: oneLine(wanted, 80) }));
        return { ok: true, base, words: base.slice(0, SHOWN) };
      }
      const branch = await defaultBranch();
      if (branch === null) return onDefault(id, head, begun);
      const { exitCode, stdout } = await tryGit(['merge-base', 'HEAD', branch], { cwd: root });
      const base = stdout.trim();
      if (exitCode !== 0 || base === head) return onDefault(id, head, begun);
      return { ok: true, base, words: `${base.slice(0, SHOWN)}, where ${branch} was left` };
    },
    facts: async (id: string, base: string, ids: readonly string[]): Promise<SyncFacts> => {
      const isCommit = (await commitOf(base)) !== null;
      const changed = await run(['diff', '--no-renames', '--name-only', '--relative', '-z', base, 'HEAD', '--']);
      const range = isCommit ? [`${base}..HEAD`] : ['HEAD'];
      const named = ['--fixed-strings', `--grep=${id}`];
      const committed = await run(['log', '--format=', '--name-only', '--relative', '-z', ...named, ...range, '--']);
      return { changed: split(changed), committed: split(committed), lines: await linesNaming(root, ids) };
    },
    uncommitted: async (): Promise<readonly string[]> => {
      const changed = await run(['diff', '--no-renames', '--name-only', '--relative', '-z', 'HEAD', '--']);
      const added = await run(['ls-files', '--others', '--exclude-standard', '-z']);
      return split(`${changed}\0${added}`).filter((path) => !path.startsWith('.tool/'));
    },
  };
}

/** Lines of tests in HEAD that name one of the ids, or any SPEC. */
async function linesNaming(root: string, ids: readonly string[]): Promise<readonly TestLine[]> {
  const patterns = [...ids, 'SPEC-[A-Z0-9-]+'].flatMap((one) => ['-e', one]);
  const { exitCode, stdout, stderr } = await tryGit(['grep', '-n', '-I', '-z', '-w', '-E', ...patterns, 'HEAD', '--'], {
    cwd: root,
    maxBytes: MAX_BYTES,
  });
  // Exit code 1: no match.
  if (exitCode !== 0 && exitCode !== 1) throw failure(GIT_CODES.git_failed, { command: 'grep', said: oneLine(stderr) });
  const isTest = new Map<string, boolean>();
  return stdout.split('\n').flatMap((row) => {
    const [place = '', number = '', ...text] = row.split('\0');
    const path = place.replace(/^HEAD:/, '');
    if (text.length === 0) return [];
    const known = isTest.get(path) ?? mayHoldTests(path, areaOf(path, []) === 'tests');
    isTest.set(path, known);
    return known ? [{ path, line: Number(number), text: text.join('\0') }] : [];
  });
}
