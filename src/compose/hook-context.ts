// Context of events and commands, with all its parts (type only). team.ts makes it; its users name the parts that they need.

import type { TeamContext } from '../team/operations/context.ts';
import type {
  CheckoutGate,
  EventOrigin,
  HostFacts,
  PeopleLog,
  ProjectFiles,
  SpecStore,
  StepLock,
  WriteRules,
} from '../team/operations/context-parts.ts';
import type { CallerEvidence } from '../team/operations/event-caller.ts';

export type HookContext = TeamContext &
  CallerEvidence &
  WriteRules &
  PeopleLog &
  CheckoutGate &
  StepLock &
  EventOrigin & { readonly project: ProjectFiles & SpecStore & HostFacts };
