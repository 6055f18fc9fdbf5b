// The one place that knows secretlint; it is imported when there is a text to look through.

import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';

export type Secret = {
  /** For example `GitHub Token`. */
  readonly kind: string;
  /** For comparing alone: it is shown nowhere. */
  readonly value: string;
  /** From 0, in the text. */
  readonly at: number;
};

const PRESET = '@secretlint/secretlint-rule-preset-recommend';
const RULES = [{ id: '@secretlint/secretlint-rule-aws', options: { enableIDScanRule: true } }];

/** `found GitHub Token(…): <value>` */
function kindOf(message: string): string {
  return message
    .replace(/^found /i, '')
    .replace(/[:(][\s\S]*$/, '')
    .trim();
}

export async function secretsIn(text: string, path: string): Promise<readonly Secret[]> {
  const { messages } = await lintSource({
    source: { content: text, filePath: path, ext: '', contentType: 'text' },
    options: { config: { rules: [{ id: PRESET, rule: creator, rules: RULES }] }, noPhysicFilePath: true },
  });
  return messages.flatMap((one) => {
    const value = text.slice(...one.range);
    return one.type !== 'message' || value === '' ? [] : [{ kind: kindOf(one.message), value, at: one.range[0] }];
  });
}
