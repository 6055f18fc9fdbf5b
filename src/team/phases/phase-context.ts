// Contexts of the steps of a phase, by step (types only).

import type { CheckoutGate, PeopleLog, ProjectFiles, SpecStore, StepLock } from '../operations/context-parts.ts';
import type { OperationContext } from '../operations/operations.ts';

export type PlanContext = OperationContext & PeopleLog & { readonly project: Pick<SpecStore, 'approval' | 'approve'> };

export type MendContext = OperationContext & { readonly project: Pick<ProjectFiles, 'files'> };

export type MeasureContext = MendContext & CheckoutGate;

/** All steps that code takes where a model leads. */
export type PhaseContext = PlanContext & MeasureContext & StepLock & { readonly project: Pick<SpecStore, 'writeSpec'> };
