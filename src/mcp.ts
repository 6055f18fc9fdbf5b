// The team server as a program of its own: for hosts that start it by path.

import { serveMcp } from './claude-code/mcp/server.ts';

// It sets the exit code itself, and ends with standard input.
void serveMcp();
