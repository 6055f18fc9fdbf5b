// The refusal of a hook's input.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { got } from '../../base/rules/text.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';
import type { InvalidInput } from './parse-event.ts';

export function invalidInput({ field, expected, came, note }: InvalidInput): Refusal {
  return refusal(HOOK_CODES.hook_input_invalid, { field, expected, got: `${got(came)}${note}` });
}
