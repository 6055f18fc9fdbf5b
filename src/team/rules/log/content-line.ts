// One-line summary of a message: the main fields of its type, without braces.

import { visible } from '../../../base/rules/text.ts';
import { UNMEASURED } from '../claims.ts';
import { type Content, MESSAGES, type MessageType } from '../message.ts';
import type { Message } from './state.ts';

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
  return lineOf(MESSAGES[type].line?.(content) ?? JSON.stringify(content));
}
