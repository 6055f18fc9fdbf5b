// `tool doctor --fix`: writes the proposed commands of the quality gate into .tool/config/workflow.yaml, with their reasons.

import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isScalar, parseDocument, visit } from 'yaml';
import { writeFileAtomic } from '../../base/files/atomic-write.ts';
import { oneLine } from '../../base/rules/text.ts';
import { DEFAULT_QUALITY } from '../../gate/rules/quality.ts';
import { withProposed } from '../../guard/rules/suggest-ownership.ts';
import { readManifest } from '../../install/install.ts';
import { MANIFEST, manifestText } from '../../install/manifest.ts';
import { sha256 } from '../../install/outcome.ts';
import { readTeamFile, TEAM_FILE } from '../../team/config/team-config-file.ts';
import { type CommandRow, reasonWords, teamFileText } from '../../team/config/team-file-text.ts';
import { parseTeamSettings } from '../../team/config/team-settings.ts';
import { DEFAULT_OWNERSHIP } from '../../team/rules/default-ownership.ts';
import { commandRows } from '../init.ts';

/** The text with each command and its reason, and everything else as it was. */
function withCommands(text: string, rows: readonly CommandRow[]): string {
  const draft = parseDocument(text);
  for (const { name, command } of rows) draft.setIn(['quality', 'commands', name], command);
  // Read anew, new keys can take a comment.
  const document = parseDocument(draft.toString({ lineWidth: 0 }));
  const byName = new Map(rows.map((row) => [row.name, row]));
  visit(document.getIn(['quality', 'commands'], true) as Parameters<typeof visit>[0], {
    Pair: (_, { key }) => {
      const row = isScalar(key) ? byName.get(String(key.value)) : undefined;
      if (row === undefined || !isScalar(key)) return;
      key.commentBefore = [...(key.commentBefore?.split('\n') ?? []), ` ${oneLine(reasonWords(row))}`].join('\n');
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** @returns one line for each command that was written */
export async function fixCommands(root: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const file = readTeamFile(root);
  const path = join(root, TEAM_FILE);
  const { commands } = file === null ? DEFAULT_QUALITY : parseTeamSettings(file.text, file.path).quality;
  const all = await commandRows(root, env);
  const rows = all.filter(
    ({ name, command }) =>
      command !== null && Object.entries(commands).some(([key, value]) => key === name && value === null),
  );
  if (rows.length === 0) return [];
  const manifest = readManifest(root);
  const own = manifest?.files.find((one) => one.path === TEAM_FILE);
  const isUnchanged = file !== null && own !== undefined && own.sha256 === sha256(file.text);
  const text =
    isUnchanged && manifest !== null
      ? teamFileText(withProposed(DEFAULT_OWNERSHIP, manifest.ownership ?? []), all)
      : withCommands(file?.text ?? '', rows);
  mkdirSync(dirname(path), { recursive: true });
  writeFileAtomic(path, text, file === null ? 0o644 : statSync(path).mode & 0o777);
  if (isUnchanged && manifest !== null) {
    const files = manifest.files.map((one) => (one === own ? { ...one, sha256: sha256(text) } : one));
    const record = manifestText({ ...manifest, commands: all, files });
    writeFileAtomic(join(root, MANIFEST), record, statSync(join(root, MANIFEST)).mode & 0o777);
  }
  return rows.map(({ name, command, reason }) => `wrote quality.commands.${name}: ${command} (${reason})`);
}
