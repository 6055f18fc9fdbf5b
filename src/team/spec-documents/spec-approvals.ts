// Approvals of a SPEC as it stands: a record beside the project, or the commit that holds it.

import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lazyCrypto } from '../../base/lazy-crypto.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import { projectState } from '../../git/project-state.ts';
import { SPEC_CODES } from '../rules/codes/spec-codes.ts';
import type { SpecTexts } from '../rules/spec-documents/check.ts';
import type { DocumentName } from '../rules/spec-documents/problem.ts';
import { type Approval, approvedPart, isSpecId, specDirectory, statusOfSpec } from '../rules/spec-documents/spec.ts';
import { readTexts, replaceFile, setStatus } from './specs.ts';

/** A digest of each document; `-` where there is none. */
type Digests = Readonly<Record<DocumentName, string>>;

type Entry = { readonly at: string; readonly digests: Digests };

const DOCUMENTS: readonly DocumentName[] = ['spec.md', 'plan.md', 'acceptance.md'];

/** Older ones are of no use any more. */
const ENTRIES_MAX = 20;

function documentOf(texts: SpecTexts, name: DocumentName): string | null {
  return { 'spec.md': texts.spec, 'plan.md': texts.plan, 'acceptance.md': texts.acceptance }[name];
}

function digestOf(text: string | null): string {
  if (text === null) return '-';
  return lazyCrypto().createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');
}

function digestsOf(texts: SpecTexts): Digests {
  return {
    'spec.md': digestOf(texts.spec === null ? null : approvedPart(texts.spec)),
    'plan.md': digestOf(texts.plan),
    'acceptance.md': digestOf(texts.acceptance),
  };
}

function recordPath(root: string, id: string, env: Environment): string {
  return join(projectState(root, env), 'approvals', `${id}.json`);
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null || !('at' in value) || !('digests' in value)) return false;
  const digests: unknown = value.digests;
  return (
    typeof value.at === 'string' &&
    typeof digests === 'object' &&
    digests !== null &&
    DOCUMENTS.every((name) => typeof Object.entries(digests).find(([key]) => key === name)?.[1] === 'string')
  );
}

/** What was approved, the latest last; nothing where there is no record that can be read. */
function entriesOf(root: string, id: string, env: Environment): readonly Entry[] {
  try {
    const value: unknown = JSON.parse(readFileSync(recordPath(root, id, env), 'utf8'));
    return Array.isArray(value) ? value.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function changedSince({ digests }: Entry, now: Digests): readonly DocumentName[] {
  return DOCUMENTS.filter((name) => digests[name] !== now[name]);
}

/**
 * Notes that a SPEC is approved with these words, whatever its status; the next look at it believes its front matter.
 * @param now milliseconds since the epoch
 */
export function recordApproval(root: string, texts: SpecTexts, env: Environment, now: number): void {
  const path = recordPath(root, texts.id, env);
  const digests = digestsOf(texts);
  const others = entriesOf(root, texts.id, env).filter((entry) => changedSince(entry, digests).length > 0);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const entries = [...others, { at: new Date(now).toISOString(), digests }].slice(-ENTRIES_MAX);
  replaceFile(path, `${JSON.stringify(entries, null, 2)}\n`);
}

/**
 * Approves a SPEC as it stands; gives what stands in the way, null when it is done.
 * @param now milliseconds since the epoch
 */
export function approveSpec(root: string, id: string, env: Environment, now: number): Refusal | null {
  const texts = readTexts(root, id);
  if (texts?.spec == null) return refusal(SPEC_CODES.spec_document_missing, { path: `${specDirectory(id)}/spec.md` });
  try {
    recordApproval(root, texts, env, now);
  } catch (error) {
    const values = { path: recordPath(root, id, env), said: messageOf(error) };
    return refusal(SPEC_CODES.spec_not_writable, values);
  }
  return setStatus(root, id, 'approved', new Date(now).toISOString().slice(0, 10));
}

const NOT_COMMITTED = 'it is not committed as it stands';

/** Why HEAD does not count as holding all documents as they stand; null: it holds them. */
async function whyNotCommitted(root: string, texts: SpecTexts): Promise<string | null> {
  const { tryGit } = await import('../../git/git.ts');
  const there = DOCUMENTS.flatMap((name) => {
    const text = documentOf(texts, name);
    return text === null ? [] : [{ name, text: text.replaceAll('\r\n', '\n') }];
  });
  const input = there.map(({ name }) => `HEAD:./${specDirectory(texts.id)}/${name}\n`).join('');
  const { exitCode, stdout, stderr } = await tryGit(['cat-file', '--batch'], { cwd: root, input });
  if (exitCode !== 0 && !/^fatal: not a git repository/.test(stderr))
    return `git cannot tell whether it is committed as it stands: ${oneLine(stderr, 400)}`;
  let rest = Buffer.from(stdout);
  for (const { text } of there) {
    const [head, size] = /^[0-9a-f]+ blob (\d+)\n/.exec(rest.toString('latin1', 0, 200)) ?? [];
    if (head === undefined) return NOT_COMMITTED;
    const end = head.length + Number(size);
    if (rest.toString('utf8', head.length, end).replaceAll('\r\n', '\n') !== text) return NOT_COMMITTED;
    rest = rest.subarray(end + 1);
  }
  return null;
}

/**
 * Whether a SPEC is approved as it stands. Its front matter alone says nothing: somebody must have approved these very words,
 * here by the record that `approveSpec` makes, or by committing them.
 * @param root the checkout that holds it
 */
export async function approvalOf(root: string, id: string, env: Environment): Promise<Approval> {
  const texts = readTexts(root, id);
  if (!isSpecId(id) || texts?.spec == null)
    return { status: null, counts: false, why: `there is no ${specDirectory(id)}/spec.md` };
  const status = statusOfSpec(texts.spec);
  if (status !== 'approved' && status !== 'completed')
    return { status, counts: false, why: `status: ${status ?? 'none'}` };
  const now = digestsOf(texts);
  const entries = entriesOf(root, id, env);
  const fitting = entries.find((entry) => changedSince(entry, now).length === 0);
  if (fitting !== undefined) return { status, counts: true, why: `approved on ${fitting.at.slice(0, 10)}` };
  const notCommitted = await whyNotCommitted(root, texts);
  if (notCommitted === null) return { status, counts: true, why: 'committed as it stands' };
  const last = entries.at(-1);
  const why =
    last === undefined
      ? `its front matter says ${status}, but nobody has approved it here, and ${notCommitted}`
      : `${changedSince(last, now).join(' and ')} changed after it was approved on ${last.at.slice(0, 10)}`;
  return { status, counts: false, why };
}
