// Decodes evidence: from the process that measured it, and from the daemon's journal. Each part is bounded.

import * as z from 'zod';
import { ALL_CHECKS } from '../../gate/rules/check-results.ts';
import type { Evidence } from '../../gate/rules/evidence.ts';
import { OUTCOMES } from '../../gate/rules/quality.ts';

const words = z.string().max(2_000);
const percent = z.number().min(0).max(100).nullable();

export const evidenceSchema: z.ZodType<Evidence> = z.object({
  commit: words,
  base: words,
  ok: z.boolean(),
  checks: z
    .array(z.object({ check: z.enum(ALL_CHECKS), outcome: z.enum(OUTCOMES), reason: words, figure: words.nullable() }))
    .max(10),
  commands: z
    .array(
      z.object({
        command: words,
        exit: z.number().int().nullable(),
        timed_out: z.boolean(),
        seconds: z.number().nonnegative(),
      }),
    )
    .max(100),
  coverage: z.object({ before: percent, after: percent }),
  rejection: z.string().max(4_000),
  unmeasured: words.nullable(),
});
