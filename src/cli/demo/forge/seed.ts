// Fills the embedded forge: a bare repository with history, and issues whose diffs git itself made.

import { existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { failure } from '../../../base/rules/errors.ts';
import { fence, lastLines } from '../../../base/rules/text.ts';
import { cloneEnvironment, git, tryGit } from '../../../git/git.ts';
import { CLI_CODES } from '../../rules/cli-codes.ts';
import { DEMO_COMMITS, DEMO_ISSUES, type Files, type SeedIssue } from './demo-project.ts';
import type { Forge } from './forge.ts';

const AUTHOR = {
  GIT_AUTHOR_NAME: 'maintainer',
  GIT_AUTHOR_EMAIL: 'maintainer@localhost',
  GIT_COMMITTER_NAME: 'maintainer',
  GIT_COMMITTER_EMAIL: 'maintainer@localhost',
  GIT_AUTHOR_DATE: '2026-01-05T09:00:00Z',
  GIT_COMMITTER_DATE: '2026-01-05T09:00:00Z',
};

export type IssueText = { readonly title: string; readonly body: string; readonly author: SeedIssue['author'] };

async function writeFiles(directory: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  }
}

/** A work tree whose commits and diffs become the repository and its issues. */
class Scratch {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  run(...args: string[]): Promise<string> {
    return git(args, { cwd: this.#path, env: { ...cloneEnvironment(process.env), ...AUTHOR } });
  }

  async commit(message: string, files: Files): Promise<string> {
    await writeFiles(this.#path, files);
    await this.run('add', '--all');
    await this.run('commit', '--quiet', '-m', message);
    return (await this.run('rev-parse', 'HEAD')).trim();
  }

  /** The diff that a change makes against a commit. */
  async diff(from: string, files: Files): Promise<string> {
    await this.run('checkout', '--quiet', '--detach', from);
    await writeFiles(this.#path, files);
    // Forced: what the project ignores is a change all the same.
    await this.run('add', '--all', '--force');
    const text = await this.run('diff', '--cached', '--no-ext-diff');
    await this.run('reset', '--quiet', '--hard');
    return text;
  }

  read(path: string): Promise<string> | undefined {
    return existsSync(join(this.#path, path)) ? readFile(join(this.#path, path), 'utf8') : undefined;
  }
}

/** Lends a work tree beside the repository that it is for. */
async function withScratch<T>(repository: string, work: (scratch: Scratch, path: string) => Promise<T>): Promise<T> {
  const path = await mkdtemp(`${repository}.seed-`);
  try {
    return await work(new Scratch(path), path);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

function bodyOf(words: string, diff: string): string {
  return `${words}\n\n${fence(diff, 'diff')}\n`;
}

/** Issues that add a page each: as many as are asked for. */
function moreIssues(count: number): SeedIssue[] {
  return Array.from({ length: count }, (_, index) => ({
    title: `Add note ${index + 1} to the documentation`,
    words: 'A page of its own is enough.',
    change: { from: 1, files: { [`docs/note-${index + 1}.md`]: `# Note ${index + 1}\n\nWritten by a patch.\n` } },
    author: 'maintainer' as const,
  }));
}

/** Makes the bare repository of the small project; gives its issues, `count` of them. */
export async function seedProject(repository: string, count: number): Promise<IssueText[]> {
  return withScratch(repository, async (scratch, path) => {
    await scratch.run('init', '--quiet', '--initial-branch=main');
    const commits: string[] = [];
    for (const { message, files } of DEMO_COMMITS) commits.push(await scratch.commit(message, files));
    const issues: IssueText[] = [];
    for (const issue of [...DEMO_ISSUES, ...moreIssues(count - DEMO_ISSUES.length)]) {
      const body =
        issue.change === null
          ? issue.words
          : bodyOf(issue.words, await scratch.diff(commits[issue.change.from] ?? 'HEAD', issue.change.files));
      issues.push({ title: issue.title, body, author: issue.author });
    }
    await scratch.run('checkout', '--quiet', 'main');
    await git(['clone', '--quiet', '--bare', path, repository], { cwd: path });
    return issues;
  });
}

/** Makes a bare repository of one commit. */
export async function seedFiles(repository: string, message: string, files: Files): Promise<void> {
  await withScratch(repository, async (scratch, path) => {
    await scratch.run('init', '--quiet', '--initial-branch=main');
    await scratch.commit(message, files);
    await git(['clone', '--quiet', '--bare', path, repository], { cwd: path });
  });
}

/** Where the repository that a directory belongs to keeps its objects, and the commit it stands on. */
async function locate(source: string): Promise<{ readonly gitDirectory: string; readonly commit: string }> {
  const refuse = (why: string): never => {
    throw failure(CLI_CODES.option_invalid, {
      option: '--repo',
      expected: 'a Git repository with a commit',
      got: `${source}, which ${why}`,
    });
  };
  const status = statSync(source, { throwIfNoEntry: false });
  if (status === undefined) return refuse('does not exist');
  if (!status.isDirectory()) return refuse('is no directory');
  // The common directory serves for subdirectories, linked work trees and bare repositories alike.
  const found = await tryGit(['rev-parse', '--path-format=absolute', '--git-common-dir'], { cwd: source });
  if (found.exitCode !== 0) return refuse(`git does not take for one: ${lastLines(found.stderr, 2)}`);
  const head = await tryGit(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { cwd: source });
  if (head.exitCode !== 0) return refuse('has none');
  return { gitDirectory: found.stdout.trim(), commit: head.stdout.trim() };
}

/** Imports an existing repository, the commit it stands on as `main`; gives issues that fit any project. */
export async function importProject(source: string, repository: string, count: number): Promise<IssueText[]> {
  const { gitDirectory, commit } = await locate(source);
  return withScratch(repository, async (scratch, path) => {
    await git(['clone', '--quiet', '--no-hardlinks', '--no-checkout', gitDirectory, path], { cwd: path });
    await scratch.run('checkout', '--quiet', '-B', 'main', commit);
    const readme = await scratch.read('README.md');
    const change = async (files: Files, words: string) => bodyOf(words, await scratch.diff(commit, files));
    const note = { 'docs/toolcrew-demo.md': '# A page from a patch\n\nAdded by the demo.\n' };
    const appended = { 'README.md': `${readme ?? '# A project\n'}\nThis line was added by the demo.\n` };
    const two = { 'demo/one.txt': 'one\n', 'demo/two.txt': 'two\n' };
    const issues: IssueText[] = [
      { title: 'Add a page to the documentation', body: await change(note, 'A new file.'), author: 'maintainer' },
      { title: 'Say one thing more in the README', body: await change(appended, 'At its end.'), author: 'maintainer' },
      { title: 'Add two files at once', body: await change(two, 'One change in two files.'), author: 'maintainer' },
      {
        title: 'Mend what is not there',
        body: bodyOf(
          'This patch is for another project.',
          'diff --git a/not/here.txt b/not/here.txt\n--- a/not/here.txt\n+++ b/not/here.txt\n@@ -1 +1 @@\n-this\n+that\n',
        ),
        author: 'maintainer',
      },
      {
        title: 'Please take my file',
        body: await change({ 'handy.txt': 'handy\n' }, 'Handy for everybody.'),
        author: 'stranger',
      },
    ];
    for (const issue of moreIssues(count - issues.length))
      issues.push({
        title: issue.title,
        body: await change(issue.change?.files ?? {}, issue.words),
        author: issue.author,
      });
    await scratch.run('checkout', '--quiet', '--force', 'main');
    await git(['clone', '--quiet', '--bare', '--single-branch', '--branch', 'main', path, repository], { cwd: path });
    return issues;
  });
}

/** Files the issues; the maintainer puts the label on each, the stranger's too. */
export async function fileIssues(
  forge: Forge,
  base: string,
  issues: readonly IssueText[],
  label: string,
): Promise<number[]> {
  const numbers: number[] = [];
  for (const name of [label, 'tool-done', 'tool-failed', 'tool-question'])
    await forge.call('maintainer', 'POST', `${base}/labels`, { name, color: '8ab0ff' });
  for (const { title, body, author } of issues) {
    const { status, data } = await forge.call(author, 'POST', `${base}/issues`, { title, body });
    const number = typeof data === 'object' && data !== null && 'number' in data ? Number(data.number) : 0;
    if (status !== 201)
      throw failure(CLI_CODES.demo_failed, { said: `the forge took no issue: ${status} ${JSON.stringify(data)}` });
    await forge.call('maintainer', 'POST', `${base}/issues/${number}/labels`, { labels: [label] });
    numbers.push(number);
  }
  return numbers;
}
