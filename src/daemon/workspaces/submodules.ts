// Submodules of a workspace: filled from the daemon's own copies, level by level.

import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../base/files/remove-tree.ts';
import type { Clock, Logger } from '../../base/ports.ts';
import { prefixed, type Refusal, refusal, textOf } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { lastLines, oneLine } from '../../base/rules/text.ts';
import { type Clone, isAncestor, NO_PUSH, statusOf } from '../../git/clone.ts';
import { type GitResult, git, tryGit } from '../../git/git.ts';
import { isPlainName, parseSubmodules, type Submodule, submoduleAddressOf } from '../../git/rules/submodules.ts';
import type { WorkspaceTask } from '../ports.ts';
import { WORKSPACES_CODES } from '../rules/codes/workspaces-codes.ts';
import type { ModuleCopies } from './mirror/module-copies.ts';
import type { WorkspaceManifests } from './workspace-manifests.ts';

type SubmodulesOptions = {
  readonly clone: Clone;
  readonly copies: ModuleCopies;
  readonly clock: Clock;
  /** Told of each that stays as it is, and why. */
  readonly say: (what: Refusal) => void;
};

/** All submodules of a workspace together may take so long. */
const FILL_MS = 600_000;
const MAX_DEPTH = 8;
const MAX_MODULES = 200;

type Level = {
  /** Where it is, and how it is called from the workspace's top. */
  readonly path: string;
  readonly shown: string;
  /** Where its repository is. */
  readonly url: string;
  readonly depth: number;
};

type Linked = Submodule & {
  /** The commit that the repository around it links. */
  readonly sha: string;
  readonly at: string;
  readonly shown: string;
  /** Two entries have this path: git takes the address of one that it chooses. */
  readonly isDouble: boolean;
};

function isOwnDirectory(path: string): boolean {
  try {
    return realpathSync.native(path) === path;
  } catch {
    return false;
  }
}

/** Why a submodule stays as it is. */
class NotFilled extends Error {}

class Submodules {
  readonly #options: SubmodulesOptions;
  readonly #endsAt: number;
  #seen = 0;

  constructor(options: SubmodulesOptions) {
    this.#options = options;
    this.#endsAt = options.clock.elapsed() + FILL_MS;
  }

  #git(cwd: string, args: readonly string[], signal: AbortSignal): Promise<GitResult> {
    const { launch, timeoutMs } = this.#options.clone;
    return tryGit(args, { cwd, launch, timeoutMs, signal });
  }

  get #top(): Level {
    const { clone, copies } = this.#options;
    return { path: clone.path, shown: '', url: copies.remoteUrl, depth: 1 };
  }

  /**
   * Fills those that are empty, and moves on those that are clean and behind their link. What cannot be had is said.
   * @returns the settings that the workspace's Git directory has for its own submodules by then
   */
  async fill(signal: AbortSignal): Promise<string> {
    const filled = await this.#fillLevel(this.#top, signal);
    return filled
      .map(({ name, url }) => `[submodule "${name}"]\n\tactive = true\n\turl = "${url.replaceAll(/["\\]/g, '\\$&')}"\n`)
      .join('');
  }

  /** What HEAD links and .gitmodules names. */
  async #linked({ path, shown }: Level, signal: AbortSignal): Promise<readonly Linked[]> {
    if (!existsSync(join(path, '.gitmodules'))) return [];
    const listed = await this.#git(path, ['config', '--blob', 'HEAD:.gitmodules', '--list', '-z'], signal);
    signal.throwIfAborted();
    if (listed.exitCode !== 0) {
      const what = { path: oneLine(join(shown, '.gitmodules')), said: lastLines(listed.stderr, 2) };
      this.#options.say(refusal(WORKSPACES_CODES.submodules_unreadable, what));
      return [];
    }
    const modules = parseSubmodules(listed.stdout);
    if (modules.length === 0) return [];
    const paths = [...new Set(modules.map((module) => module.path))];
    const links = await this.#links(path, 'HEAD', paths, signal);
    return modules.flatMap((module) => {
      const sha = links.get(module.path);
      const at = join(path, module.path);
      // A link on the way there would lead out of the workspace.
      if (sha === undefined || !isOwnDirectory(at)) return [];
      const isDouble = modules.some((other) => other !== module && other.path === module.path);
      return [{ ...module, sha, at, shown: join(shown, module.path), isDouble }];
    });
  }

  async #fillLevel(level: Level, signal: AbortSignal): Promise<readonly { name: string; url: string }[]> {
    const filled: { name: string; url: string }[] = [];
    for (const module of await this.#linked(level, signal)) {
      try {
        const url = await this.#fillOne(module, level, signal);
        if (url !== null) filled.push({ name: module.name, url });
      } catch (error) {
        signal.throwIfAborted();
        const state = readdirSync(module.at).length > 0 ? 'as it is' : 'empty';
        const path = oneLine(module.shown);
        const said = oneLine(messageOf(error), 400);
        this.#options.say(refusal(WORKSPACES_CODES.submodule_not_filled, { path, state, said }));
      }
    }
    return filled;
  }

  /** The address of one that was filled just now; null for one that was there. */
  async #fillOne(module: Linked, level: Level, signal: AbortSignal): Promise<string | null> {
    const { copies, clock } = this.#options;
    if (module.isDouble) throw new NotFilled('its path stands in .gitmodules more than once');
    if (!isPlainName(module.name)) throw new NotFilled(`its name ${oneLine(module.name, 80)} is refused`);
    const place = submoduleAddressOf(module.url, level.url, copies.remoteUrl);
    if (place.kind === 'refused') throw new NotFilled(`its address ${oneLine(module.url)} ${place.why}`);
    if (++this.#seen > MAX_MODULES) throw new NotFilled(`there are more than ${MAX_MODULES}`);
    if (clock.elapsed() > this.#endsAt) throw new NotFilled(`all together took longer than ${FILL_MS / 1000} s`);
    const isEmpty = readdirSync(module.at).length === 0;
    if (isEmpty) await this.#checkOut(module, level, place.url, signal);
    else await this.#moveOn(module, place.url, signal);
    const { depth } = level;
    if (depth < MAX_DEPTH)
      await this.#fillLevel({ path: module.at, shown: module.shown, url: place.url, depth: depth + 1 }, signal);
    return isEmpty ? place.url : null;
  }

  /** Where the commit is to be had. */
  async #source({ sha }: Linked, url: string, signal: AbortSignal): Promise<string> {
    const source = await this.#options.copies.bring(url, sha, signal);
    if (source === null) throw new NotFilled(`${url} has no commit ${sha}`);
    return source;
  }

  async #checkOut(module: Linked, level: Level, url: string, signal: AbortSignal): Promise<void> {
    const source = await this.#source(module, url, signal);
    const { launch, timeoutMs } = this.#options.clone;
    const options = { launch, timeoutMs, signal };
    // Git believes that it asks the address, gets the copy, and could ask nothing else.
    const settings = [
      ['protocol.allow', 'never'],
      ['protocol.file.allow', 'always'],
      [`url.${source.replaceAll('=', '%3D')}.insteadOf`, url],
      [`submodule.${module.name}.url`, url],
    ].flatMap((setting) => ['-c', setting.join('=')]);
    const update = ['--literal-pathspecs', 'submodule', '--quiet', 'update', '--init', '--checkout', '--', module.path];
    try {
      await git([...settings, ...update], { ...options, cwd: level.path });
      await git(['config', '--local', 'remote.origin.pushurl', NO_PUSH], { ...options, cwd: module.at });
    } catch (error) {
      await removeTree(module.at);
      await mkdir(module.at);
      throw error;
    }
    for (const [key, value] of [
      ['active', 'true'],
      ['url', url],
    ] as const)
      await git(['config', '--local', `submodule.${module.name}.${key}`, value], { ...options, cwd: level.path });
  }

  /** One that is clean and behind goes on to its link: nothing can be lost by that. Any other stays as it is. */
  async #moveOn(module: Linked, url: string, signal: AbortSignal): Promise<void> {
    if (!existsSync(join(module.at, '.git'))) return;
    const { head, dirty } = await this.#statusOf(module, signal);
    if (head === null || head === module.sha || dirty) return;
    const source = await this.#source(module, url, signal);
    const { launch, timeoutMs } = this.#options.clone;
    const options = { cwd: module.at, launch, timeoutMs, signal };
    const fetch = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules'];
    await git([...fetch, source, module.sha], options);
    if (!(await isAncestor({ ...this.#options.clone, path: module.at }, head, module.sha, signal))) return;
    await git(['checkout', '--quiet', '--detach', module.sha], options);
  }

  /** One that git cannot read holds who knows what: it counts as changed. */
  async #statusOf(
    { at }: Linked,
    signal: AbortSignal,
  ): Promise<{ readonly head: string | null; readonly dirty: boolean }> {
    try {
      const { clone } = this.#options;
      const { oid, dirty } = await statusOf({ ...clone, path: at }, signal);
      return { head: oid, dirty };
    } catch {
      signal.throwIfAborted();
      return { head: null, dirty: true };
    }
  }

  /** The commits that the tree of a commit links, by path. */
  async #links(
    path: string,
    tree: string,
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<Map<string, string>> {
    const rows = await this.#git(path, ['--literal-pathspecs', 'ls-tree', '-z', tree, '--', ...paths], signal);
    return new Map(
      rows.stdout.split('\0').flatMap((row) => {
        const [, sha, place] = /^160000 commit ([0-9a-f]{40,64})\t(.+)$/s.exec(row) ?? [];
        return sha === undefined || place === undefined ? [] : [[place, sha] as const];
      }),
    );
  }
}

type WorkspaceOptions = Omit<SubmodulesOptions, 'say'> & {
  readonly log: Logger;
  readonly manifests: WorkspaceManifests;
  /** No agent has been in it. */
  readonly isNew: boolean;
};

/** Fills the submodules of a workspace, where it has any; its manifest knows their settings by then. */
export async function fillWorkspace(
  options: WorkspaceOptions,
  task: WorkspaceTask,
  signal: AbortSignal,
): Promise<void> {
  const { clone, log, manifests, isNew } = options;
  const manifest = manifests.read(task.issue);
  if (manifest === undefined || !existsSync(join(clone.path, '.gitmodules'))) return;
  const say = (what: Refusal) => {
    task.output(`${textOf(what)}\n`);
    log.log('warn', 'workspace', prefixed(`issue #${task.issue}: `, what), { issue: task.issue });
  };
  if (isNew) manifests.write({ ...manifest, isFilling: true });
  const settings = await new Submodules({ ...options, say }).fill(signal);
  manifests.write({ issue: manifest.issue, config: `${manifest.config}${settings}` });
}
