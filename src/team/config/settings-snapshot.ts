// The settings of a project's teams as they were last decoded: hooks start without the decoder while the file is the same.

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRegular } from '../../base/files/safe-read.ts';
import { lazyCrypto } from '../../base/lazy-crypto.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { clip, visibleLines } from '../../base/rules/text.ts';
import { isObject } from '../../base/rules/values.ts';
import { teamNames } from '../log/team-list.ts';
import { teamsDirectory } from '../log/team-names.ts';
import { LOG_CODES } from '../rules/codes/log-codes.ts';
import { DEFAULT_TEAM_SETTINGS } from '../rules/default-settings.ts';
import type { TeamSettings } from '../rules/settings.ts';
import { INSTALLED_FILE, readTeamFile, TEAM_FILE, type TeamFile } from './team-config-file.ts';

/** To be raised when the same file means something else than before; what the defaults are is part of the key by itself. */
const FORMAT = 2;
const MAX_BYTES = 4 * 1024 * 1024;
/** So much is said of a file at most. */
const MAX_WORDS = 20_000;

/** `problem`: when the file cannot be used, all that is wrong with it as `said`, a line each, and what holds instead. */
export type LoadedTeamSettings = { readonly settings: TeamSettings; readonly problem: Refusal | null };

type Snapshot = {
  /** The file that the settings are from; null: none was valid, and they are the defaults. */
  readonly key: string | null;
  readonly settings: TeamSettings;
  /** The file that was found broken since, so that it is not decoded at every hook. */
  readonly refused: { readonly key: string; readonly said: string } | null;
};

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** Whether a value has every key of the model, with a value of the same type; null in the model: text as well. */
function isLike(value: unknown, model: unknown): boolean {
  if (model === null) return value === null || typeof value === 'string';
  if (Array.isArray(model)) return Array.isArray(value);
  if (!isObject(model)) return typeof value === typeof model;
  return isObject(value) && Object.entries(model).every(([key, inner]) => isLike(value[key], inner));
}

function isBudget(value: unknown): boolean {
  const isLimit = (limit: unknown) => limit === null || typeof limit === 'number';
  return isObject(value) && isLimit(value.softUsd) && isLimit(value.hardUsd);
}

function isSettings(value: unknown): value is TeamSettings {
  const { patterns: _patterns, budget: _budget, ...model } = DEFAULT_TEAM_SETTINGS;
  if (!isLike(value, model) || !isObject(value) || !isObject(value.quality)) return false;
  const { copies, ownership, patterns, budget } = value;
  const { performance } = value.quality;
  return (
    isTexts(copies) &&
    Array.isArray(ownership) &&
    ownership.every((one) => isObject(one) && typeof one.owner === 'string' && isTexts(one.patterns)) &&
    isObject(budget) &&
    isBudget(budget.teammate) &&
    isBudget(budget.task) &&
    isObject(patterns) &&
    Object.values(patterns).every(isTexts) &&
    Array.isArray(performance) &&
    performance.every((one) => isLike(one, { name: '', command: '', budgetMs: 0 }))
  );
}

function parseSnapshot(text: string): Snapshot | undefined {
  const value: unknown = JSON.parse(text);
  if (!isObject(value) || !isSettings(value.settings)) return undefined;
  const { key, settings, refused } = value;
  const isRefused = isObject(refused) && typeof refused.key === 'string' && typeof refused.said === 'string';
  return {
    key: typeof key === 'string' ? key : null,
    settings,
    refused: isRefused ? { key: String(refused.key), said: String(refused.said) } : null,
  };
}

/** undefined when there is none, or one that cannot be used. */
function readSnapshot(path: string): Snapshot | undefined {
  try {
    return parseSnapshot(readRegular(path, MAX_BYTES) ?? '');
  } catch {
    return undefined;
  }
}

/** In whole or not at all. Without it everything goes on, only slower. */
function writeSnapshot(directory: string, path: string, snapshot: Snapshot): void {
  const fresh = `${path}.${process.pid}-${lazyCrypto().randomBytes(4).toString('hex')}`;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    try {
      writeFileSync(fresh, JSON.stringify(snapshot), { flag: 'wx', mode: 0o600 });
      renameSync(fresh, path);
    } finally {
      rmSync(fresh, { force: true });
    }
  } catch {
    // A full disk, a directory that is not ours: decoded again the next time.
  }
}

/** All that the settings depend on, as it is: to hash it would take longer than to compare it. */
function keyOf({ text, version }: TeamFile): string {
  return [FORMAT, version, JSON.stringify(DEFAULT_TEAM_SETTINGS), text].join('\n');
}

/** What holds while the file cannot be used, and why it cannot. */
function without(snapshot: Snapshot | undefined, said: string): LoadedTeamSettings {
  return snapshot === undefined || snapshot.key === null
    ? { settings: DEFAULT_TEAM_SETTINGS, problem: refusal(LOG_CODES.settings_defaults_hold, { said }) }
    : { settings: snapshot.settings, problem: refusal(LOG_CODES.settings_last_hold, { said }) };
}

function wordsOf(error: unknown): string {
  return clip(visibleLines(messageOf(error)), MAX_WORDS);
}

/** Whether something of ours works in the project; what cannot be read may. */
function isInUse(projectRoot: string): boolean {
  try {
    return existsSync(join(projectRoot, INSTALLED_FILE)) || teamNames(teamsDirectory(projectRoot)).length > 0;
  } catch {
    return true;
  }
}

/**
 * What the project says of its teams: from the snapshot while the file is the one it was made of, else decoded, which
 * makes a new snapshot. A file that cannot be used, or is gone while a team or the installation is there, leaves
 * the last one that could in force; else the defaults hold without a file. Never throws.
 */
export async function loadTeamSettings(projectRoot: string, stateDirectory: string): Promise<LoadedTeamSettings> {
  const path = join(stateDirectory, 'workflow.json');
  const snapshot = readSnapshot(path);
  let file: TeamFile | null;
  try {
    file = readTeamFile(projectRoot);
  } catch (error) {
    return without(snapshot, wordsOf(error));
  }
  if (file === null) {
    if (snapshot === undefined || snapshot.key === null || !isInUse(projectRoot))
      return { settings: DEFAULT_TEAM_SETTINGS, problem: null };
    return without(snapshot, wordsOf(failure(LOG_CODES.settings_file_gone, { path: join(projectRoot, TEAM_FILE) })));
  }
  const key = keyOf(file);
  if (snapshot?.key === key) return { settings: snapshot.settings, problem: null };
  if (snapshot?.refused?.key === key) return without(snapshot, snapshot.refused.said);
  try {
    const { parseTeamSettings } = await import('./team-settings.ts');
    const settings = parseTeamSettings(file.text, file.path);
    writeSnapshot(stateDirectory, path, { key, settings, refused: null });
    return { settings, problem: null };
  } catch (error) {
    const said = wordsOf(error);
    const loaded = without(snapshot, said);
    // What is no fault of the file is tried again.
    if (error instanceof ToolError) {
      const refused = { key, said };
      writeSnapshot(stateDirectory, path, { key: snapshot?.key ?? null, settings: loaded.settings, refused });
    }
    return loaded;
  }
}
