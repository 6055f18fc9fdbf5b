// SPEC documents on disk: .tool/specs/SPEC-<NAME>-<NNN>/{spec,plan,acceptance}.md.

import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { errorCode, failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { submodulesOf } from '../../git/tracked-files.ts';
import { SPEC_CODES } from '../rules/codes/spec-codes.ts';
import {
  checkSpec,
  type PlannedSpec,
  readSpecTexts,
  type SpecTexts,
  warningsOf,
} from '../rules/spec-documents/check.ts';
import { type CreatedSpec, type NewSpec, specTextsOf } from '../rules/spec-documents/new-spec.ts';
import type { DocumentName, SpecProblem } from '../rules/spec-documents/problem.ts';
import { withoutResult } from '../rules/spec-documents/result-section.ts';
import {
  approvedPart,
  isSpecId,
  nextSpecId,
  type SpecStatus,
  specDirectory,
  specName,
  statusOfSpec,
  withStatus,
  withUpdated,
} from '../rules/spec-documents/spec.ts';

/** Names below the directory of SPECs. */
function entries(root: string): readonly string[] {
  try {
    return readdirSync(join(root, '.tool', 'specs'));
  } catch {
    return [];
  }
}

/** Why no SPEC can be written; null: one can. Nothing is made. */
export function whyNoSpec(root: string): Refusal | null {
  for (const name of ['.tool/specs', '.tool', '.']) {
    const place = join(root, name);
    const there = lstatSync(place, { throwIfNoEntry: false });
    if (there === undefined) continue;
    try {
      if (!statSync(place).isDirectory()) return refusal(SPEC_CODES.spec_place_unusable, { path: place });
      accessSync(place, constants.W_OK);
      return null;
    } catch (error) {
      return refusal(SPEC_CODES.spec_not_writable, { path: place, said: messageOf(error) });
    }
  }
  return null;
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

/** A SPEC as data, with its problems; null when there is none of that id, or when it says nothing of how it is built. */
export async function readPlanned(root: string, id: string): Promise<PlannedSpec | null> {
  const texts = readTexts(root, id);
  if (texts === null || texts.plan === null) return null;
  return { data: readSpecTexts(texts), problems: checkSpec(texts), warnings: await readWarnings(root, texts) };
}

/** The warnings of a SPEC of that project. */
export async function readWarnings(root: string, texts: SpecTexts): Promise<readonly SpecProblem[]> {
  return warningsOf(texts, await submodulesOf(root));
}

/**
 * Writes a new SPEC under the next id that is free, all three documents or none; of two at once each gets an id of its own.
 * @param today an ISO date
 * @returns `ok: false`: the documents would not pass the check, and nothing was written
 */
export function createSpec(root: string, spec: NewSpec, today: string): CreatedSpec {
  const name = specName(spec.feature);
  const problems = checkSpec(specTextsOf(`SPEC-${name}-001`, spec, today));
  if (problems.length > 0) return { ok: false, problems };
  const place = join(root, '.tool', 'specs');
  try {
    mkdirSync(place, { recursive: true });
  } catch (error) {
    throw failure(SPEC_CODES.spec_not_writable, { path: place, said: messageOf(error) }, { cause: error });
  }
  const id = claimId(root, name);
  const directory = join(place, id);
  let scratch: string | null = null;
  try {
    const texts = specTextsOf(id, spec, today);
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
    throw failure(SPEC_CODES.spec_not_writable, { path: directory, said: messageOf(error) }, { cause: error });
  }
}

/**
 * Writes a SPEC once: over the one of the id `replaces`, else as a new one; where one holds these very words already, that is it.
 * @param today an ISO date
 */
export function putSpec(root: string, spec: NewSpec, replaces: string | null, today: string): CreatedSpec {
  const before = replaces === null ? null : readTexts(root, replaces);
  if (before !== null) return rewrite(root, before, spec, today);
  const there = listSpecs(root).find((id) => holds(readTexts(root, id), spec));
  if (there === undefined) return createSpec(root, spec, today);
  const status = statusOfSpec(readDocument(root, there, 'spec.md') ?? '');
  const problem = status === 'draft' ? setStatus(root, there, spec.status, today) : null;
  if (problem !== null) throw new ToolError(problem);
  return { ok: true, id: there };
}

/** Whether documents say what a SPEC says, whatever their status and their dates are. */
function holds(texts: SpecTexts | null, spec: NewSpec): boolean {
  if (texts?.spec == null || !texts.id.startsWith(`SPEC-${specName(spec.feature)}-`)) return false;
  const wanted = specTextsOf(texts.id, spec, readSpecTexts(texts).spec.created);
  const said = approvedPart(withoutResult(texts.spec)).trimEnd();
  return (
    said === approvedPart(wanted.spec).trimEnd() && texts.plan === wanted.plan && texts.acceptance === wanted.acceptance
  );
}

function rewrite(root: string, before: SpecTexts, spec: NewSpec, today: string): CreatedSpec {
  const texts = specTextsOf(before.id, spec, readSpecTexts(before).spec.created || today);
  const problems = checkSpec(texts);
  if (problems.length > 0) return { ok: false, problems };
  const place = join(root, specDirectory(before.id));
  replaceFile(join(place, 'plan.md'), texts.plan);
  replaceFile(join(place, 'acceptance.md'), texts.acceptance);
  replaceFile(join(place, 'spec.md'), withUpdated(texts.spec, today));
  return { ok: true, id: before.id };
}

/** The next id that is free, taken by making its directory: who makes it first has it. */
function claimId(root: string, name: string): string {
  for (;;) {
    const id = nextSpecId(name, entries(root));
    if (id === null) throw failure(SPEC_CODES.spec_numbers_used_up, { name });
    try {
      mkdirSync(join(root, specDirectory(id)));
      return id;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST')
        throw failure(
          SPEC_CODES.spec_not_writable,
          { path: specDirectory(id), said: messageOf(error) },
          { cause: error },
        );
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
export function setStatus(root: string, id: string, status: SpecStatus, today: string): Refusal | null {
  const text = isSpecId(id) ? readDocument(root, id, 'spec.md') : null;
  if (text === null) return refusal(SPEC_CODES.spec_document_missing, { path: `${specDirectory(id)}/spec.md` });
  const path = join(root, specDirectory(id), 'spec.md');
  const changed = withStatus(text, status);
  if (changed === text) return null;
  try {
    replaceFile(path, withUpdated(changed, today));
    return null;
  } catch (error) {
    return refusal(SPEC_CODES.spec_not_writable, { path, said: messageOf(error) });
  }
}
