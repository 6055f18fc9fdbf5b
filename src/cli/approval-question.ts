// The question whether a SPEC is approved, to the person at the terminal.

import { createInterface } from 'node:readline';
import type { ApprovalAnswer } from '../team/phases/plan.ts';
import { specDirectory } from '../team/rules/spec-documents/spec.ts';

/** What an answer means; `which`: that something is to change, and not what · null: nothing that can be told. */
export function readApproval(text: string): ApprovalAnswer | 'which' | null {
  const words = text.trim();
  if (/^y(?:es)?$/i.test(words)) return { kind: 'yes' };
  if (/^(?:no?)?$/i.test(words)) return { kind: 'no' };
  const [, what = ''] = /^c(?:hanges?)?\b[\s:]*(.*)$/i.exec(words) ?? [];
  if (/^c(?:hanges?)?$/i.test(words)) return 'which';
  if (what !== '') return { kind: 'changes', words: what };
  // Whoever writes a sentence wants something; a lone word may be a slip.
  return /\s/.test(words) ? { kind: 'changes', words } : null;
}

/** Asks until the answer can be told; null: the signal came first. Whoever closes the terminal has not said yes. */
export async function askApproval(id: string, signal: AbortSignal): Promise<ApprovalAnswer | null> {
  if (signal.aborted) return null;
  // The terminal itself turns Ctrl-C into its signal, as for everything else here.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const ask = (question: string) =>
    new Promise<string | null>((resolve) => {
      lines.once('close', () => resolve(null));
      lines.question(question, resolve);
    });
  const leave = () => lines.close();
  signal.addEventListener('abort', leave, { once: true });
  try {
    for (const name of ['spec.md', 'plan.md', 'acceptance.md'])
      process.stderr.write(`  ${specDirectory(id)}/${name}\n`);
    for (let question = `approve ${id}? [y/N/changes] `; ; ) {
      const text = await ask(question);
      if (text === null) return signal.aborted ? null : { kind: 'no' };
      const answer = readApproval(text);
      if (answer !== null && answer !== 'which') return answer;
      question =
        answer === 'which'
          ? 'What is to change? '
          : `expected y, n, or what is to change, got ${JSON.stringify(text)}: `;
    }
  } finally {
    signal.removeEventListener('abort', leave);
    lines.close();
  }
}
