// Claims of a message about tests and quality, compared with the measurements.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { percentText } from '../../gate/rules/coverage.ts';
import type { CheckResult } from '../../gate/rules/quality.ts';
import { MESSAGES_CODES } from './codes/messages-codes.ts';
import type { Gate } from './log/state.ts';
import type { Content, MessageType } from './message.ts';

/** A figure may be rounded to whole percents. */
const PERCENT_ROUNDING = 0.5;
/** A score has one decimal. */
const SCORE_ROUNDING = 0.05;

function numberIn(content: Content, field: string): number | null {
  if (typeof content === 'string') return null;
  const value = content[field];
  return typeof value === 'number' ? value : null;
}

function sourceOf(check: CheckResult | undefined): string {
  return check?.command ?? 'the gate';
}

/** A claim that goes beyond the measurement. */
type Overstated = { readonly field: string; readonly claimed: string; readonly measured: string };

function testsClaim(content: Content, { checks, coverage }: Gate): Overstated | null {
  const tests = checks.find(({ check }) => check === 'tests');
  if (tests?.outcome === 'failed')
    return {
      field: 'failedTests',
      claimed: 'tests that pass',
      measured: `the gate measured: ${tests.reason} (${sourceOf(tests)})`,
    };
  const claimed = numberIn(content, 'coverage');
  if (claimed !== null && coverage !== null && claimed - coverage > PERCENT_ROUNDING) {
    const source = sourceOf(checks.find(({ check }) => check === 'coverage'));
    return {
      field: 'coverage',
      claimed: `a coverage of ${percentText(claimed)}`,
      measured: `${percentText(coverage)} was measured (${source})`,
    };
  }
  const passed = numberIn(content, 'passedTests');
  const counted = /^(\d+) tests?\b/.exec(tests?.figure ?? '')?.[1];
  if (passed !== null && counted !== undefined && passed > Number(counted))
    return {
      field: 'passedTests',
      claimed: `${passed} passed tests`,
      measured: `${counted} were measured (${sourceOf(tests)})`,
    };
  return null;
}

function gateClaim(content: Content, { trust5, checks }: Gate): Overstated | null {
  const issues = numberIn(content, 'securityIssues');
  const security = checks.find(({ check }) => check === 'security');
  const audited = security?.outcome === 'failed' ? Math.max(1, security.details.length) : null;
  const found = trust5?.securityIssues ?? audited;
  if (issues !== null && found !== null && issues < found) {
    const source = trust5?.dimensions.find(({ dimension }) => dimension === 'secured')?.source ?? sourceOf(security);
    return {
      field: 'securityIssues',
      claimed: `${issues} security issues`,
      measured: `${found} ${found === 1 ? 'was' : 'were'} found (${source})`,
    };
  }
  if (trust5 === undefined) return null;
  const claimed = numberIn(content, 'trust5Score');
  if (claimed !== null && trust5.score !== null && claimed - trust5.score > SCORE_ROUNDING) {
    const each = trust5.dimensions.map(
      ({ dimension, state, score, source }) =>
        `${dimension} ${score?.toFixed(1) ?? state.replace('_', ' ')} (${source})`,
    );
    return {
      field: 'trust5Score',
      claimed: `a trust5Score of ${claimed}`,
      measured: `${trust5.score.toFixed(1)} was measured: ${each.join(', ')}`,
    };
  }
  if (trust5.ok) return null;
  const bad = trust5.dimensions
    .filter(({ state }) => state !== 'passed')
    .map(({ dimension, state, figures }) => `${dimension} ${state.replace('_', ' ')} (${figures.join('; ')})`);
  return {
    field: 'quality_gate_passed',
    claimed: 'that the gate is passed',
    measured: `TRUST 5 says: ${bad.join(', ')}`,
  };
}

/**
 * What of a message's figures could be held against nothing, although there is a measurement: each with why, for its author.
 * Where nothing at all was measured, the whole message says so.
 */
export function unmeasuredClaims(type: MessageType, content: Content, measured: Gate | null): readonly Refusal[] {
  if (measured === null || typeof content === 'string') return [];
  const { checks, coverage, trust5 } = measured;
  const isRun = (name: CheckResult['check']) =>
    checks.some(({ check, outcome }) => check === name && outcome !== 'not_measured');
  const lacks = (field: string, isMeasured: boolean, what: string) =>
    content[field] === undefined || isMeasured ? [] : [refusal(MESSAGES_CODES.claim_not_compared, { field, what })];
  if (type === 'tests_passed') return lacks('coverage', coverage !== null, 'coverage');
  if (type !== 'quality_gate_passed') return [];
  const isAudited = (trust5?.securityIssues ?? null) !== null || isRun('security');
  return [
    ...lacks('trust5Score', (trust5?.score ?? null) !== null, 'a score'),
    ...lacks('securityIssues', isAudited, 'security'),
    ...lacks('performanceScore', isRun('performance'), 'performance'),
  ];
}

/** Whether messages of this type claim what is measured. */
export function isClaim(type: MessageType): boolean {
  return type === 'tests_passed' || type === 'quality_gate_passed';
}

/** Beside a claim that could be held against nothing. */
export const UNMEASURED = 'not measured yet';

/**
 * Whether a message claims more than was measured: names both figures and their source; null when it does not, or
 * when there is nothing to compare it with. A claim of less is no matter: work may have gone on.
 */
export function judgeClaim(type: MessageType, content: Content, measured: Gate | null): Refusal | null {
  if (measured === null) return null;
  const claim =
    type === 'tests_passed'
      ? testsClaim(content, measured)
      : type === 'quality_gate_passed'
        ? gateClaim(content, measured)
        : null;
  if (claim === null) return null;
  const about = measured.task === null ? {} : { task: measured.task };
  return refusal(MESSAGES_CODES.claim_not_measured_so, { type, ...claim, ...about });
}
