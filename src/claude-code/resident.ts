// The resident server of a session, as hooks and tools use it (type only). compose/team.ts makes it.

import type { Identity } from '../agents/member-environment.ts';
import type { Project } from '../git/project.ts';
import type { ToolResultContext } from './answers/on-post-tool-use.ts';
import type { ToolUseContext } from './answers/on-pre-tool-use.ts';
import type { HostOperationContext } from './answers/operate-in-host.ts';
import type { ServerLiveness } from './server-liveness.ts';

export type Resident = {
  /** For its tools, and for the two hooks that it answers. */
  readonly context: HostOperationContext & ToolUseContext & ToolResultContext;
  readonly project: Project;
  /** Who this server was started as. */
  readonly identity: Identity;
  /** Whether more than its environment says so. */
  readonly isCertain: boolean;
  /** The directory of what belongs to the project but not into it. */
  readonly state: string;
  /**
   * Writes down that this process answers the hooks of a session. Not before the first of them came: after a restart some
   * hosts never reach the new server by a hook.
   */
  readonly announce: ServerLiveness['announce'];
  readonly isReached: ServerLiveness['isReached'];
  /** Sessions whose server was killed: some hosts never reach the next one by a hook. */
  readonly left: ServerLiveness['left'];
  /** Measures where a team began, beside all else; its completions wait for that. */
  readonly measureBaseline: (team: string) => void;
  readonly close: () => Promise<void>;
};
