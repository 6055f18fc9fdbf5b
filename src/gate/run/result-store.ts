// Results that were measured, kept by tree and settings.
// What passed is kept for good. What failed may lie in what no tree holds: it counts for those who waited for it.

import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRegular } from '../../base/files/safe-read.ts';
import { nestedValue } from '../detect/project-files.ts';
import { ALL_CHECKS } from '../rules/check-results.ts';
import type { FileCoverage, Reach } from '../rules/coverage.ts';
import { type CheckResult, type Failure, type GateResult, OUTCOMES } from '../rules/quality.ts';

const MAX_BYTES = 1024 * 1024;

/** Below the project, where formatters and linters look at whatever is called as what they know. */
function resultPath(directory: string, key: string): string {
  return join(directory, key);
}

/**
 * The kept result; null when there is none that is whole.
 * @param since a failure counts that was measured then or later
 */
export function readResult(directory: string, key: string, since: number): GateResult | null {
  const text = readRegular(resultPath(directory, key), MAX_BYTES);
  if (text === null) return null;
  try {
    const kept: unknown = JSON.parse(text);
    const at = nestedValue(kept, 'at');
    const result = decoded(kept);
    return result === null || result.ok || (typeof at === 'number' && at >= since) ? result : null;
  } catch {
    return null;
  }
}

/** Whole or not at all: written beside and moved into its place. */
export function storeResult(directory: string, key: string, result: GateResult, at: number): void {
  mkdirSync(directory, { recursive: true });
  const draft = join(directory, `${key}.${randomUUID()}.tmp`);
  try {
    writeFileSync(draft, `${JSON.stringify({ at, ...result })}\n`, { mode: 0o600 });
    renameSync(draft, resultPath(directory, key));
  } finally {
    rmSync(draft, { force: true });
  }
}

function texts(value: unknown): readonly string[] | null {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : null;
}

function textOrNull(value: unknown): string | null | undefined {
  return value === null || typeof value === 'string' ? value : undefined;
}

function decodedCheck(value: unknown): CheckResult | null {
  const check = ALL_CHECKS.find((name) => name === nestedValue(value, 'check'));
  const outcome = OUTCOMES.find((name) => name === nestedValue(value, 'outcome'));
  const reason = nestedValue(value, 'reason');
  const details = texts(nestedValue(value, 'details'));
  const command = textOrNull(nestedValue(value, 'command'));
  const figure = textOrNull(nestedValue(value, 'figure'));
  if (check === undefined || outcome === undefined || typeof reason !== 'string') return null;
  if (details === null || command === undefined || figure === undefined) return null;
  const failures = decodedFailures(nestedValue(value, 'failures'));
  if (failures === null) return null;
  return { check, outcome, reason, details, command, figure, ...(failures.length === 0 ? {} : { failures }) };
}

function decodedFailures(value: unknown): readonly Failure[] | null {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return null;
  const rows = value.flatMap((row) => decodedFailure(row) ?? []);
  return rows.length === value.length ? rows : null;
}

function decodedFailure(row: unknown): Failure | null {
  const [command, reason, named, count] = ['command', 'reason', 'names', 'count'].map((key) => nestedValue(row, key));
  const how = (['ended', 'timed_out'] as const).find((word) => word === nestedValue(row, 'how'));
  const names = named === null ? null : texts(named);
  const details = texts(nestedValue(row, 'details'));
  if (typeof command !== 'string' || typeof reason !== 'string' || how === undefined || details === null) return null;
  if ((named !== null && names === null) || (count !== null && typeof count !== 'number')) return null;
  return { command, how, names, count, reason, details };
}

function decoded(value: unknown): GateResult | null {
  const [tree, ok, coverage, rows] = [
    nestedValue(value, 'tree'),
    nestedValue(value, 'ok'),
    nestedValue(value, 'coverage'),
    nestedValue(value, 'checks'),
  ];
  const uncoveredFiles = texts(nestedValue(value, 'uncoveredFiles'));
  if (typeof tree !== 'string' || typeof ok !== 'boolean' || uncoveredFiles === null || !Array.isArray(rows))
    return null;
  if (coverage !== null && typeof coverage !== 'number') return null;
  const checks = rows.map(decodedCheck).filter((check) => check !== null);
  const reach = decodedReach(nestedValue(value, 'reach'));
  if (checks.length !== ALL_CHECKS.length || (coverage !== null && reach === null)) return null;
  return {
    ...{ tree, ok, checks, coverage, uncoveredFiles },
    ...(reach === null ? {} : { reach }),
  };
}

function decodedReach(value: unknown): Reach | null {
  const [covered, total] = [nestedValue(value, 'covered'), nestedValue(value, 'total')];
  const [rows, files] = [nestedValue(value, 'unreported'), nestedValue(value, 'below')];
  if (typeof covered !== 'number' || typeof total !== 'number' || !Array.isArray(rows) || !Array.isArray(files))
    return null;
  const unreported = rows.flatMap((row) => {
    const [path, lines] = [nestedValue(row, 'path'), nestedValue(row, 'lines')];
    if (typeof path !== 'string' || typeof lines !== 'number') return [];
    return [{ path, lines }];
  });
  const below = files.flatMap((row) => decodedFile(row) ?? []);
  return unreported.length + below.length === rows.length + files.length ? { covered, total, unreported, below } : null;
}

function decodedFile(row: unknown): FileCoverage | null {
  const [path, percent, covered, total] = ['path', 'percent', 'covered', 'total'].map((key) => nestedValue(row, key));
  const isWhole = typeof percent === 'number' && typeof covered === 'number' && typeof total === 'number';
  return typeof path === 'string' && isWhole ? { path, percent, covered, total } : null;
}
