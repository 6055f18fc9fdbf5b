// The team server as a program of its own: for hosts that start it by path.

import { serveMcp } from './claude-code/mcp/server.ts';
import { answerEvents } from './compose/hooks/resident-events.ts';
import { composeResident } from './compose/team.ts';

// It sets the exit code itself, and ends with standard input.
void serveMcp({ composeResident, answerEvents });
