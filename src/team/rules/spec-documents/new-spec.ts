// A SPEC before it has an id: what it holds, and how that is written.

import { renderAcceptance, type Scenario } from './acceptance-document.ts';
import type { SpecTexts } from './check.ts';
import { type PlanTask, renderPlan } from './plan-document.ts';
import type { SpecProblem } from './problem.ts';
import type { SpecStatus } from './spec.ts';
import { renderSpec, type SpecRequirement } from './spec-document.ts';

/** What a new SPEC holds; its id and dates come with its creation. */
export type NewSpec = {
  /** The feature's words, of which its name is made. */
  readonly feature: string;
  readonly title: string;
  readonly status: SpecStatus;
  readonly about: string;
  readonly requirements: readonly SpecRequirement[];
  readonly outOfScope: readonly string[];
  readonly design: string;
  readonly tasks: readonly PlanTask[];
  readonly scenarios: readonly Scenario[];
};

export type CreatedSpec =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly problems: readonly SpecProblem[] };

/** @param today an ISO date */
export function specTextsOf(
  id: string,
  spec: NewSpec,
  today: string,
): SpecTexts & Readonly<Record<'spec' | 'plan' | 'acceptance', string>> {
  const { title, status, about, requirements, outOfScope } = spec;
  return {
    id,
    spec: renderSpec({ id, title, status, created: today, updated: today, about, requirements, outOfScope }),
    plan: renderPlan({ design: spec.design, tasks: spec.tasks }),
    acceptance: renderAcceptance({ scenarios: spec.scenarios }),
  };
}
