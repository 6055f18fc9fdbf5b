// Check for writes that would approve a SPEC in the user's place.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { isObject } from '../../base/rules/values.ts';
import type { Target, Writes } from '../../guard/rules/writes.ts';
import type { HostEvent } from '../../team/operations/host-event.ts';
import { type SpecStatus, specOfPath, statusOfSpec } from '../../team/rules/spec-documents/spec.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';

type Fields = Readonly<Record<string, unknown>>;

const SPECS = '.tool/specs';

function edited(text: string, { old_string: from, new_string: to, replace_all: all }: Fields): string {
  if (typeof from !== 'string' || typeof to !== 'string') return text;
  return all === true ? text.replaceAll(from, () => to) : text.replace(from, () => to);
}

/** Text of a document after a call of a host's file tool; null when the call does not show it. */
function textAfter({ tool, input }: HostEvent, before: string): string | null {
  switch (tool) {
    case 'Write':
      return typeof input.content === 'string' ? input.content : null;
    case 'Edit':
      return edited(before, input);
    case 'MultiEdit':
      return Array.isArray(input.edits) ? input.edits.filter(isObject).reduce(edited, before) : null;
    default:
      return null;
  }
}

/** Allowed without the user: the same status, a draft, a request for approval, or no status. */
function mayBecome(before: SpecStatus | null, after: SpecStatus | null): boolean {
  return after === null || after === 'draft' || after === 'awaiting_approval' || after === before;
}

/** Id of the SPEC that a target is; the target's path when it is a tree that may hold SPECs; null: neither. */
function specIn({ path, tree }: Target): string | null {
  if (path.startsWith('/')) return null;
  const isAround = tree && (path === '.' || path === '.tool' || path === SPECS || path.startsWith(`${SPECS}/`));
  return specOfPath(path) ?? (isAround ? path : null);
}

/**
 * Reason why the lead may not make a write that approves or completes a SPEC; null when it may.
 * @param spec reads the documents of a SPEC, `spec.md` first; null: no such SPEC
 */
export function approvalFault(
  event: HostEvent,
  { targets }: Writes,
  spec: (id: string) => string | null,
): Refusal | null {
  for (const target of targets) {
    const { path } = target;
    const id = specIn(target);
    if (id === null) continue;
    const before = spec(id) ?? '';
    const after = textAfter(event, before);
    if (after === null) return refusal(HOOK_CODES.spec_status_unseen, { path });
    const status = statusOfSpec(after);
    if (mayBecome(statusOfSpec(before), status)) continue;
    return status === 'completed'
      ? refusal(HOOK_CODES.spec_completed_reserved, { path, spec: id })
      : refusal(HOOK_CODES.spec_status_reserved, { path, status: String(status), spec: id });
  }
  return null;
}
