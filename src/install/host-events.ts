// Hook events by host version. Hosts up to 2.1.100 silently ignore a settings file with a hook on an unknown event.

import { type Refusal, refusal } from '../base/rules/codes.ts';
import { isVersionAtLeast } from '../base/rules/version.ts';
import { fieldsAt, type SettingsFile } from '../claude-code/host-settings.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

/** Events of tested versions, the oldest first, each in addition to those before. Versions in between are untested. */
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

/** Events that the version surely does not know; empty when it ignores only the hook. */
function unknownTo(version: string, events: readonly string[]): readonly string[] {
  const last = KNOWN.findIndex(({ upTo }) => isVersionAtLeast(upTo, version));
  const known = KNOWN.slice(0, last + 1).flatMap((one) => one.events);
  return last === -1 ? [] : events.filter((event) => !known.includes(event));
}

/** `what`: the problem · `mend`: the fix after which the host reads the file again. */
export type IgnoredSettings = { readonly file: string; readonly what: Refusal; readonly mend: string };

/** Settings files that a host ignores as a whole, with the events that cause it. */
export function ignoredSettings(files: readonly SettingsFile[], version: string | null): readonly IgnoredSettings[] {
  if (version === null) return [];
  return files.flatMap(({ name, settings }) => {
    const unknown = unknownTo(version, Object.keys(fieldsAt(settings, 'hooks')));
    if (unknown.length === 0) return [];
    const hooks = unknown.join(', ');
    return [
      {
        file: name,
        what: refusal(INSTALL_CODES.settings_file_left_out, { file: name, events: unknown, version }),
        mend: `claude update, or take ${hooks} out of "hooks" in ${name}`,
      },
    ];
  });
}
