// One-line summary of a message: the main fields of its type, without braces.

import { visible } from '../../../base/rules/text.ts';
import { UNMEASURED } from '../claims.ts';
import type { Content, MessageType } from '../message.ts';
import type { Message } from './state.ts';

type Fields = Readonly<Record<string, unknown>>;

function words(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : JSON.stringify(value);
}

/** Formatters by message type. Content is formatted as received, even with fields missing. */
const LINES: Readonly<Partial<Record<MessageType, (fields: Fields) => string>>> = {
  api_ready: ({ endpoint }) => words(endpoint),
  component_ready: ({ component, path, testable }) =>
    `${words(component)} in ${words(path)}${testable === false ? ', not testable' : ''}`,
  tests_passed: ({ coverage, passedTests, failedTests, duration }) =>
    `${words(passedTests)} passed, ${words(failedTests)} failed, ${words(coverage)} % covered, ${words(duration)}`,
  quality_gate_passed: ({ trust5Score, securityIssues, performanceScore, recommendation }) =>
    `TRUST 5 ${words(trust5Score)}, ${words(securityIssues)} security issues, performance ${words(performanceScore)}: ${words(recommendation)}`,
  change_request: ({ file, requestedChange, reason, priority }) =>
    `${words(file)}: ${words(requestedChange)} (${priority === undefined ? '' : `${words(priority)}: `}${words(reason)})`,
  change_completed: ({ file, change, commitRef }) => `${words(file)}: ${words(change)} (${words(commitRef)})`,
  bug_report: ({ test, expected, actual }) => `${words(test)}: expected ${words(expected)}, got ${words(actual)}`,
  coverage_required: ({ current, required, uncoveredFiles }) =>
    `${words(current)} % of ${words(required)} %: ${Array.isArray(uncoveredFiles) ? uncoveredFiles.map(words).join(', ') : words(uncoveredFiles)}`,
};

/** Joins the lines of a text into one visible line; a semicolon follows a line that ends without punctuation. */
export function lineOf(text: string): string {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return visible(
    lines
      .filter((line) => line !== '')
      .reduce((all, line) => (all === '' ? line : `${all}${/[.:;,!?…]$/.test(all) ? ' ' : '; '}${line}`), ''),
  );
}

/** Content of a message in one line, marked when its claim is unmeasured. */
export function messageContent({ type, content, isUnmeasured }: Message): string {
  return `${isUnmeasured === true ? `${UNMEASURED}: ` : ''}${contentLine(type, content)}`;
}

/** One visible line, not truncated: the caller truncates it. */
export function contentLine(type: MessageType, content: Content): string {
  if (typeof content === 'string') return lineOf(content);
  return lineOf(LINES[type]?.(content) ?? JSON.stringify(content));
}
