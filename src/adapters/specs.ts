// SPEC documents on disk: .tool/specs/SPEC-<NAME>-<NNN>/{spec,plan,acceptance}.md.

import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { messageOf, ToolError } from '../domain/errors.ts';
import { renderAcceptance, type Scenario } from '../domain/spec/acceptance-document.ts';
import { checkSpec, readSpecTexts, type SpecData, type SpecTexts } from '../domain/spec/check.ts';
import { type PlanTask, renderPlan } from '../domain/spec/plan-document.ts';
import type { DocumentName, SpecProblem } from '../domain/spec/problem.ts';
import { withoutResult } from '../domain/spec/result-section.ts';
import {
  isSpecId,
  nextSpecId,
  type SpecStatus,
  specDirectory,
  specName,
  withStatus,
  withUpdated,
} from '../domain/spec/spec.ts';
import { renderSpec, type SpecRequirement } from '../domain/spec/spec-document.ts';

/** Names below the directory of SPECs. */
function entries(root: string): readonly string[] {
  try {
    return readdirSync(join(root, '.tool', 'specs'));
  } catch {
    return [];
  }
}

/** Ids of the SPECs of a project. */
export function listSpecs(root: string): readonly string[] {
  return entries(root)
    .filter((id) => isSpecId(id) && readDocument(root, id, 'spec.md') !== null)
    .sort();
}

/** One document of a SPEC; null when it is missing. */
function readDocument(root: string, id: string, name: DocumentName): string | null {
  try {
    return readFileSync(join(root, specDirectory(id), name), 'utf8');
  } catch {
    return null;
  }
}

/** All documents of a SPEC; null when there is none of that id. */
export function readTexts(root: string, id: string): SpecTexts | null {
  const spec = isSpecId(id) ? readDocument(root, id, 'spec.md') : null;
  if (spec === null) return null;
  return { id, spec, plan: readDocument(root, id, 'plan.md'), acceptance: readDocument(root, id, 'acceptance.md') };
}

/** What a SPEC asks for: `spec.md` without the result of a sync, then `acceptance.md`; null when there is none of that id. */
export function readSpec(root: string, id: string): string | null {
  const texts = readTexts(root, id);
  if (texts?.spec == null) return null;
  return [withoutResult(texts.spec), ...(texts.acceptance === null ? [] : [texts.acceptance])].join('\n\n');
}

/** A SPEC as data; null when there is none of that id, or when its documents have problems. */
export function readGood(root: string, id: string): SpecData | null {
  const texts = readTexts(root, id);
  return texts === null || checkSpec(texts).length > 0 ? null : readSpecTexts(texts);
}

/** What a new SPEC holds; its id and dates come with its creation. */
export type NewSpec = {
  /** The feature's words, of which its name is made. */
  readonly feature: string;
  readonly title: string;
  readonly status: SpecStatus;
  readonly about: string;
  readonly requirements: readonly SpecRequirement[];
  readonly outOfScope: readonly string[];
  readonly design: string;
  readonly tasks: readonly PlanTask[];
  readonly scenarios: readonly Scenario[];
};

export type CreatedSpec =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly problems: readonly SpecProblem[] };

function textsOf(
  id: string,
  spec: NewSpec,
  today: string,
): SpecTexts & Readonly<Record<'spec' | 'plan' | 'acceptance', string>> {
  const { title, status, about, requirements, outOfScope } = spec;
  return {
    id,
    spec: renderSpec({ id, title, status, created: today, updated: today, about, requirements, outOfScope }),
    plan: renderPlan({ design: spec.design, tasks: spec.tasks }),
    acceptance: renderAcceptance({ scenarios: spec.scenarios }),
  };
}

/**
 * Writes a new SPEC under the next id that is free, all three documents or none; of two at once each gets an id of its own.
 * @param today an ISO date
 * @returns `ok: false`: the documents would not pass the check, and nothing was written
 */
export function createSpec(root: string, spec: NewSpec, today: string): CreatedSpec {
  const name = specName(spec.feature);
  const problems = checkSpec(textsOf(`SPEC-${name}-001`, spec, today));
  if (problems.length > 0) return { ok: false, problems };
  const place = join(root, '.tool', 'specs');
  mkdirSync(place, { recursive: true });
  const id = claimId(root, name);
  const directory = join(place, id);
  let scratch: string | null = null;
  try {
    const texts = textsOf(id, spec, today);
    scratch = mkdtempSync(join(place, `.${id}-`));
    writeWhole(join(scratch, 'plan.md'), texts.plan);
    writeWhole(join(scratch, 'acceptance.md'), texts.acceptance);
    writeWhole(join(scratch, 'spec.md'), texts.spec);
    // An empty directory, as the claim left it, is replaced in one step.
    renameSync(scratch, directory);
    return { ok: true, id };
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    if (scratch !== null) rmSync(scratch, { recursive: true, force: true });
    throw new ToolError('refused', `cannot write ${directory}: ${messageOf(error)}`, { cause: error });
  }
}

/** The next id that is free, taken by making its directory: who makes it first has it. */
function claimId(root: string, name: string): string {
  for (;;) {
    const id = nextSpecId(name, entries(root));
    if (id === null)
      throw new ToolError('refused', `expected a number below 1000 for SPEC-${name}, all of them are taken`);
    try {
      mkdirSync(join(root, specDirectory(id)));
      return id;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST'))
        throw new ToolError('refused', `cannot make ${specDirectory(id)}: ${messageOf(error)}`, { cause: error });
    }
  }
}

function writeWhole(path: string, text: string): void {
  const fd = openSync(path, 'w');
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Replaces a file in one step. */
export function replaceFile(path: string, text: string): void {
  const scratch = `${path}.${process.pid}.tmp`;
  try {
    writeWhole(scratch, text);
    renameSync(scratch, path);
  } catch (error) {
    rmSync(scratch, { force: true });
    throw error;
  }
}

/**
 * Sets a SPEC's status, and its date where that is known; gives what stands in the way, null when it is done. `approved` is
 * `approveSpec`'s to set: without its record it does not count.
 * @param today an ISO date
 */
export function setStatus(root: string, id: string, status: SpecStatus, today: string): string | null {
  const text = isSpecId(id) ? readDocument(root, id, 'spec.md') : null;
  if (text === null) return `there is no ${specDirectory(id)}/spec.md`;
  const path = join(root, specDirectory(id), 'spec.md');
  const changed = withStatus(text, status);
  if (changed === text) return null;
  try {
    replaceFile(path, withUpdated(changed, today));
    return null;
  } catch (error) {
    return `cannot write ${path}: ${messageOf(error)}`;
  }
}
