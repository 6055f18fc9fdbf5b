// What is known of an agent while it works and is not worth a record: its stage, last words, last life sign.

import type { Usage } from '../../domain/daemon/record.ts';
import { NO_USAGE } from '../../domain/daemon/record.ts';
import { oneLine } from '../../domain/text.ts';
import type { AgentEvent } from '../ports.ts';

export type Stage = 'workspace' | 'after_create' | 'before_run' | 'agent' | 'after_run' | 'collect';

const MESSAGE_MAX = 300;

export class Live {
  stage: Stage = 'workspace';
  lastEvent: string | null = null;
  lastMessage: string | null = null;
  lastEventAt: number;
  agentStartedAt: number | null = null;
  usage: Omit<Usage, 'seconds'> = NO_USAGE;

  constructor(now: number) {
    this.lastEventAt = now;
  }

  hear(event: AgentEvent, now: number): void {
    this.lastEventAt = now;
    this.lastEvent =
      event.type === 'activity' ? event.name : event.type === 'tool_started' ? `tool ${event.name}` : event.type;
    if (event.type === 'message') this.lastMessage = oneLine(event.text, MESSAGE_MAX) || this.lastMessage;
    if (event.type === 'usage') this.usage = event.usage;
  }

  /** All that the attempt used so far, its agent's time included. */
  usageAt(now: number): Usage {
    return { ...this.usage, seconds: this.agentStartedAt === null ? 0 : Math.max(0, now - this.agentStartedAt) / 1000 };
  }
}
