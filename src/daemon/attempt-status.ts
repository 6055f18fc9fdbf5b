// Live status of a working agent, which is not recorded: its stage, last message and last event.

import type { AgentEvent } from '../agents/ports.ts';
import type { TeamSummary } from '../agents/rules/team-summary.ts';
import { NO_USAGE, type Usage } from '../agents/rules/usage.ts';
import type { Clock } from '../base/ports.ts';
import { oneLine } from '../base/rules/text.ts';

export type Stage = 'workspace' | 'after_create' | 'before_run' | 'agent' | 'after_run' | 'collect';

const MESSAGE_MAX = 300;

export class AttemptStatus {
  readonly #clock: Clock;
  #agentStartedAt: number | null = null;
  stage: Stage = 'workspace';
  lastEvent: string | null = null;
  lastMessage: string | null = null;
  lastEventAt: number;
  usage: Omit<Usage, 'seconds'> = NO_USAGE;
  /** The team that works on it; null: one agent does. */
  team: TeamSummary | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.lastEventAt = clock.now();
  }

  agentStarted(): void {
    this.#agentStartedAt = this.#clock.elapsed();
  }

  hear(event: AgentEvent): void {
    this.lastEventAt = this.#clock.now();
    this.lastEvent =
      event.type === 'activity' ? event.name : event.type === 'tool_started' ? `tool ${event.name}` : event.type;
    if (event.type === 'message') this.lastMessage = oneLine(event.text, MESSAGE_MAX) || this.lastMessage;
    if (event.type === 'usage') this.usage = event.usage;
    if (event.type === 'team') this.team = event.team;
  }

  /** Usage of the attempt so far, with the agent's time. */
  get used(): Usage {
    const since = this.#agentStartedAt;
    return { ...this.usage, seconds: since === null ? 0 : (this.#clock.elapsed() - since) / 1000 };
  }
}
