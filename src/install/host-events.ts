// Which events hosts know: up to 2.1.100 they silently leave a whole settings file out that has a hook on any other.

import { fieldsAt, type SettingsFile } from '../adapters/host-settings.ts';
import { isBefore } from '../adapters/runner/claude.ts';

/** As versions were asked, the oldest first; each knows those before it as well, and what is between two was not tried. */
const KNOWN: readonly { readonly upTo: string; readonly events: readonly string[] }[] = [
  {
    upTo: '2.1.33',
    events: [
      'PreToolUse',
      'PostToolUse',
      'PostToolUseFailure',
      'Notification',
      'UserPromptSubmit',
      'SessionStart',
      'SessionEnd',
      'Stop',
      'SubagentStart',
      'SubagentStop',
      'PreCompact',
      'PermissionRequest',
      'Setup',
      'TeammateIdle',
      'TaskCompleted',
    ],
  },
  {
    upTo: '2.1.100',
    events: [
      'StopFailure',
      'PostCompact',
      'PermissionDenied',
      'TaskCreated',
      'Elicitation',
      'ElicitationResult',
      'ConfigChange',
      'WorktreeCreate',
      'WorktreeRemove',
      'InstructionsLoaded',
      'CwdChanged',
      'FileChanged',
    ],
  },
];

/** What that version surely knows no hooks on; nothing where it leaves out no more than the hook. */
function unknownTo(version: string, events: readonly string[]): readonly string[] {
  const last = KNOWN.findIndex(({ upTo }) => !isBefore(upTo, version));
  const known = KNOWN.slice(0, last + 1).flatMap((one) => one.events);
  return last === -1 ? [] : events.filter((event) => !known.includes(event));
}

/** `words`: what is wrong · `mend`: after which the host reads the file again. */
export type LeftOut = { readonly file: string; readonly words: string; readonly mend: string };

/** The settings files that a host leaves out as a whole, with the events that are why. */
export function filesLeftOut(files: readonly SettingsFile[], version: string | null): readonly LeftOut[] {
  if (version === null) return [];
  return files.flatMap(({ name, settings }) => {
    const unknown = unknownTo(version, Object.keys(fieldsAt(settings, 'hooks')));
    if (unknown.length === 0) return [];
    const hooks = unknown.join(', ');
    return [
      {
        file: name,
        words: `${name} has hooks on ${hooks}, which Claude Code ${version} does not know: it silently leaves out the whole file, with every hook and variable in it`,
        mend: `claude update, or take ${hooks} out of "hooks" in ${name}`,
      },
    ];
  });
}
