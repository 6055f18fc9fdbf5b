// The order to the process that measures a commit.

import * as z from 'zod';

const sha = z.string().regex(/^[0-9a-f]{40,64}$/);

export const gateOrder = z.strictObject({
  commit: sha,
  base: sha,
  place: z.string(),
  timeout_ms: z.number().int().positive(),
});
export type GateOrder = z.output<typeof gateOrder>;
