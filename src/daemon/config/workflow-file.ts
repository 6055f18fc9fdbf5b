// WORKFLOW.md while the daemon runs: read again when it changes, the last good one kept.

import { createHash } from 'node:crypto';
import { existsSync, type FSWatcher, readFileSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock } from '../../base/ports.ts';
import { messageOf } from '../../base/rules/errors.ts';
import type { Workflow } from '../rules/workflow.ts';
import { readWorkflow, readWorkflowText } from './read-workflow.ts';
import type { WorkflowSource } from './state-place.ts';

export type WorkflowFileOptions = {
  readonly path: string;
  readonly source: WorkflowSource;
  /** What the command line says over the file. */
  readonly override: (workflow: Workflow) => Workflow;
  readonly clock: Clock;
  /** Called when the file was read again, with what is wrong with it, and when it is gone. */
  readonly onReload: (problem: FileProblem | null, pendingRestart: readonly string[]) => void;
};

/** Why the last good file is still in use. */
export type FileProblem = { readonly kind: 'gone' | 'invalid'; readonly words: string };

const SETTLE_MS = 100;
const LOOK_MS = 5_000;

/** Keys that are read once, at the start. */
const FIXED: readonly [string, (workflow: Workflow) => unknown][] = [
  ['tracker.repo', (workflow) => workflow.tracker.slug],
  ['tracker.repositories', (workflow) => workflow.tracker.repositories],
  ['tracker.topic', (workflow) => workflow.tracker.topic],
  ['tracker.api_url', (workflow) => workflow.tracker.apiUrl],
  ['tracker.token', (workflow) => workflow.tracker.tokenVariable],
  ['tracker.app_id', (workflow) => workflow.tracker.app?.id],
  ['tracker.private_key', (workflow) => workflow.tracker.app?.key],
  ['tracker.ca_file', (workflow) => workflow.tracker.caFile],
  ['workspace.root', (workflow) => workflow.workspace.root],
  ['state.dir', (workflow) => workflow.stateDir],
  ['tool.isolation', (workflow) => workflow.tool.isolation],
  ['queue', (workflow) => workflow.queue],
  ['telemetry.traces', (workflow) => workflow.telemetry.traces],
  ['server', (workflow) => workflow.server],
];

/** Keys that take effect at the next start. */
export const FIXED_KEYS: readonly string[] = FIXED.map(([key]) => key);

function keepFixed(first: Workflow, next: Workflow): Workflow {
  const { slug, repositories, topic, apiUrl, tokenVariable, app, caFile } = first.tracker;
  return Object.freeze({
    ...next,
    tracker: { ...next.tracker, slug, repositories, topic, apiUrl, tokenVariable, app, caFile },
    workspace: { ...next.workspace, root: first.workspace.root },
    stateDir: first.stateDir,
    tool: { ...next.tool, isolation: first.tool.isolation },
    queue: first.queue,
    telemetry: first.telemetry,
    server: first.server,
  });
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export class WorkflowFile {
  readonly #options: WorkflowFileOptions;
  readonly #first: Workflow;
  #current: Workflow;
  #hash: string;
  #loadedAt: number;
  #problem: FileProblem | null = null;
  #misses = 0;
  /** How often it was read: of readings that overlap the last one counts. */
  #readings = 0;
  #pendingRestart: readonly string[] = [];

  private constructor(options: WorkflowFileOptions, first: Workflow, hash: string) {
    this.#options = options;
    this.#first = first;
    this.#current = first;
    this.#hash = hash;
    this.#loadedAt = options.clock.now();
  }

  /** Reads the file; throws when it is not valid. */
  static async open(options: WorkflowFileOptions): Promise<WorkflowFile> {
    const { path, source, override } = options;
    const text = readWorkflowText(path);
    const workflow = await readWorkflow(path, source, text);
    return new WorkflowFile(options, Object.freeze(override(workflow)), hashOf(text));
  }

  get current(): Workflow {
    return this.#current;
  }

  get loadedAt(): number {
    return this.#loadedAt;
  }

  get error(): string | null {
    return this.#problem?.words ?? null;
  }

  get pendingRestart(): readonly string[] {
    return this.#pendingRestart;
  }

  /** Reads the file again if its text changed. False when it is not there and should be looked for again soon. */
  async check(signal?: AbortSignal): Promise<boolean> {
    const { path, source, override, clock } = this.#options;
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      return this.#miss(messageOf(error));
    }
    this.#misses = 0;
    const hash = hashOf(text);
    if (hash === this.#hash) return true;
    this.#hash = hash;
    const reading = ++this.#readings;
    const isOver = () => reading !== this.#readings || signal?.aborted === true;
    try {
      const read = await readWorkflow(path, source, text, signal);
      if (isOver()) return true;
      const next = override(read);
      this.#pendingRestart = FIXED.filter(([, of]) => JSON.stringify(of(next)) !== JSON.stringify(of(this.#first))).map(
        ([key]) => key,
      );
      this.#current = keepFixed(this.#first, next);
      this.#loadedAt = clock.now();
      this.#problem = null;
    } catch (error) {
      if (isOver()) return true;
      this.#problem = { kind: 'invalid', words: messageOf(error) };
    }
    this.#options.onReload(this.#problem, this.#pendingRestart);
    return true;
  }

  /** Editors replace a file in two steps: one that is missing counts as gone when it is missing twice in a row. Said once. */
  #miss(words: string): boolean {
    this.#misses += 1;
    if (this.#misses < 2) return false;
    if (this.#problem?.kind === 'gone') return true;
    const { path, onReload } = this.#options;
    const why = existsSync(path) ? `${path} cannot be read: ${words}` : `${path} is gone`;
    this.#problem = { kind: 'gone', words: why };
    // Whatever comes back is read, be it the same.
    this.#hash = '';
    this.#readings += 1;
    onReload(this.#problem, this.#pendingRestart);
    return true;
  }

  /** Watches the file until the signal is aborted; where the file system sends no events it is looked at now and then. */
  async watch(signal: AbortSignal): Promise<void> {
    const { path, clock } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    let looking = Promise.resolve();
    let watcher: FSWatcher | undefined;
    const look = () => {
      clearTimeout(timer);
      const seen = this.check(signal).then((isSettled) => {
        if (!isSettled && !signal.aborted) timer = setTimeout(look, SETTLE_MS);
      });
      looking = Promise.all([looking, seen]).then(() => undefined);
    };
    try {
      watcher = watch(dirname(path), (_, name) => {
        if (name !== null && name !== basename(path)) return;
        clearTimeout(timer);
        timer = setTimeout(look, SETTLE_MS);
      });
      watcher.on('error', () => undefined);
    } catch {
      // No events to be had here: looking now and then is enough.
    }
    try {
      while (!signal.aborted) {
        await clock.sleep(LOOK_MS, signal);
        if (!signal.aborted) look();
      }
    } finally {
      clearTimeout(timer);
      watcher?.close();
      await looking;
    }
  }
}
