// Files of a project that decide what its checks measure: a change of one is told beside what was measured by it.

import { refusal, textOf } from '../../base/rules/codes.ts';
import { GATE_CODES } from './gate-codes.ts';
import type { Check, GateResult } from './quality.ts';

type Rule = { readonly files: RegExp; readonly checks: readonly Check[] };

const TESTED: readonly Check[] = ['tests', 'coverage'];
const ALL: readonly Check[] = ['tests', 'coverage', 'lint', 'security', 'performance'];

const RULES: readonly Rule[] = [
  { files: /^\.tool\/config\/workflow\.yaml$/, checks: ALL },
  { files: /(?:^|\/)(?:package\.json|pyproject\.toml|setup\.cfg|tox\.ini|Makefile)$/, checks: ALL },
  {
    files:
      /(?:^|\/)(?:(?:jest|vitest|vite|playwright|cypress|karma|nyc|ava)\.config\.\w+|vitest\.workspace\.\w+|\.mocharc(?:\.\w+)?|\.(?:c8rc|nycrc)(?:\.\w+)?|\.?pytest\.ini|\.coveragerc|conftest\.py|codecov\.yml|\.cargo\/config\.toml)$/,
    checks: TESTED,
  },
  {
    files:
      /(?:^|\/)(?:eslint\.config\.\w+|\.eslintrc(?:\.\w+)?|\.eslintignore|biome\.jsonc?|\.stylelintrc(?:\.\w+)?|\.?ruff\.toml|\.flake8|\.pylintrc|mypy\.ini|\.golangci\.\w+|\.?clippy\.toml|tsconfig(?:\.[\w-]+)?\.json)$/,
    checks: ['lint'],
  },
  {
    files: /(?:^|\/)(?:\.bandit|audit-ci\.jsonc?|deny\.toml|\.cargo\/audit\.toml|osv-scanner\.toml)$/,
    checks: ['security'],
  },
];

/** The changed files by which a check is measured, or any of them. */
export function ruleFiles(changed: readonly string[], check: Check | null = null): readonly string[] {
  const rules = RULES.filter(({ checks }) => check === null || checks.includes(check));
  return [...new Set(changed)].filter((path) => rules.some(({ files }) => files.test(path))).sort();
}

/** In words; empty where none has changed. */
export function ruleWords(changed: readonly string[], check: Check | null = null): string {
  const files = ruleFiles(changed, check);
  return files.length === 0 ? '' : textOf(refusal(GATE_CODES.gate_rules_changed, { files }));
}

/** The result with what was changed of what it was measured by, whether or not it passes. */
export function withRules(gate: GateResult, changed: readonly string[] | null): GateResult {
  const checks = gate.checks.map((one) => {
    const words = one.outcome === 'not_measured' ? '' : ruleWords(changed ?? [], one.check);
    return words === '' ? one : { ...one, reason: `${one.reason} (${words})` };
  });
  return { ...gate, checks };
}
