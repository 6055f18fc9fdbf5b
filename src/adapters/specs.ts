// SPEC documents on disk: .tool/specs/SPEC-<NAME>-<NNN>/{spec,plan,acceptance}.md.

import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../domain/errors.ts';
import { isSpecId, specDirectory, statusOfSpec, withStatus } from '../domain/spec/spec.ts';

const DOCUMENTS = ['spec.md', 'acceptance.md', 'plan.md'] as const;

/** Ids of the SPECs of a project. */
export function listSpecs(root: string): readonly string[] {
  try {
    return readdirSync(join(root, '.tool', 'specs'))
      .filter(isSpecId)
      .sort();
  } catch {
    return [];
  }
}

/** One document of a SPEC; null when it is missing. */
export function readDocument(root: string, id: string, name: string): string | null {
  try {
    return readFileSync(join(root, specDirectory(id), name), 'utf8');
  } catch {
    return null;
  }
}

/** All documents of a SPEC, `spec.md` first; null when that is missing. */
export function readSpec(root: string, id: string): string | null {
  if (!isSpecId(id) || readDocument(root, id, 'spec.md') === null) return null;
  return DOCUMENTS.flatMap((name) => readDocument(root, id, name) ?? []).join('\n\n');
}

/** Sets a SPEC's status to approved; gives what stands in the way, null when it is done. */
export function approveSpec(root: string, id: string): string | null {
  const text = readDocument(root, id, 'spec.md');
  if (!isSpecId(id) || text === null) return `there is no ${specDirectory(id)}/spec.md`;
  if (statusOfSpec(text) === 'completed') return `${id} is completed already`;
  const path = join(root, specDirectory(id), 'spec.md');
  try {
    writeFileSync(`${path}.tmp`, withStatus(text, 'approved'));
    renameSync(`${path}.tmp`, path);
    return null;
  } catch (error) {
    return `cannot write ${path}: ${messageOf(error)}`;
  }
}
