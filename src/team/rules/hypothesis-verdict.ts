// Verdicts on hypotheses about a failure: the form of a teammate's result, and the findings of a team.

import type { TeamState } from './log/state.ts';
import type { Task } from './task.ts';

export const VERDICT_FORM: readonly string[] = [
  'proven: <the cause, in a sentence>   (or:   refuted: <why it is not that>)',
  '$ <the command that shows it>',
  '<what it printed>',
];

/** `unclear`: not in the form, or without evidence. */
export type HypothesisVerdict =
  | { readonly kind: 'proven'; readonly cause: string; readonly evidence: string }
  | { readonly kind: 'refuted'; readonly why: string; readonly evidence: string }
  | { readonly kind: 'unclear'; readonly lack: string };

const FIRST = /^[\s>*_#-]*(proven|refuted)[\s*_]*:[\s*_]*(.*?)[\s*_]*$/i;

export function readVerdict(result: string): HypothesisVerdict {
  const lines = result.split(/\r\n?|\n/);
  const at = lines.findIndex((line) => line.trim() !== '');
  const [, word = '', said = ''] = FIRST.exec(lines[at] ?? '') ?? [];
  const evidence = lines
    .slice(at + 1)
    .join('\n')
    .replace(/^\s*\n/, '')
    .trimEnd();
  if (word === '') return { kind: 'unclear', lack: 'it does not begin with proven: or refuted:' };
  if (said === '') return { kind: 'unclear', lack: `nothing follows ${word}:` };
  if (evidence === '') return { kind: 'unclear', lack: 'no command below it shows it' };
  return word.toLowerCase() === 'proven'
    ? { kind: 'proven', cause: said, evidence }
    : { kind: 'refuted', why: said, evidence };
}

/** Cheap check of a result's beginning, before it is parsed as a whole. */
const PROOF = /^[\s>*_#-]*proven/i;

/** Whether a result proves a cause. */
export function isProof(result: string | null): boolean {
  return result !== null && PROOF.test(result) && readVerdict(result).kind === 'proven';
}

export type Tried = { readonly task: Task; readonly verdict: HypothesisVerdict };

export type HypothesisFindings = {
  /** The cause that was proven first. */
  readonly proven: { readonly task: Task; readonly cause: string; readonly evidence: string } | null;
  /** Whether every task has ended, so that nothing more can be proven. */
  readonly isSettled: boolean;
  /** Last verdict of each role. */
  readonly tried: readonly Tried[];
};

/** Findings so far of a team that looks for a cause. */
export function findingsOf({ tasks }: TeamState): HypothesisFindings {
  const all = [...tasks.values()];
  const verdicts = all
    .filter(({ status }) => status === 'completed' || status === 'failed')
    .map(
      (task): Tried => ({
        task,
        verdict:
          task.status === 'completed' ? readVerdict(task.result ?? '') : { kind: 'unclear', lack: 'it has failed' },
      }),
    );
  const [first] = verdicts
    .flatMap(({ task, verdict }) => (verdict.kind === 'proven' ? [{ task, ...verdict }] : []))
    .sort((a, b) => (a.task.endedAt ?? 0) - (b.task.endedAt ?? 0));
  return {
    proven: first === undefined ? null : { task: first.task, cause: first.cause, evidence: first.evidence },
    isSettled: verdicts.length === all.length,
    tried: verdicts.filter(({ task }, at) => !verdicts.slice(at + 1).some((later) => later.task.owner === task.owner)),
  };
}

/** Roles whose only task ended with an unclear verdict; each is asked once more. */
export function unclearRoles({ tried }: HypothesisFindings, { tasks }: TeamState): readonly string[] {
  const all = [...tasks.values()];
  return tried.flatMap(({ task, verdict }) =>
    verdict.kind === 'unclear' &&
    task.status === 'completed' &&
    task.owner !== null &&
    all.filter(({ owner }) => owner === task.owner).length === 1
      ? [task.owner]
      : [],
  );
}
