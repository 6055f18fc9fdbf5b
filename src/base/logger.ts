// The daemon's log on stderr: a bracketed source and one line, or one JSON object a line.

import type { Logger, LogSource } from './ports.ts';
import { textOf } from './rules/codes.ts';
import { asLine, redact } from './rules/text.ts';

export type LogFormat = 'text' | 'json';

export type LoggerOptions = {
  readonly format: LogFormat;
  readonly write: (line: string) => void;
  readonly now: () => number;
  /** Values that must never be shown. */
  readonly secrets: () => readonly string[];
};

const TAG_WIDTH = '[workspace]'.length;

function tag(source: LogSource): string {
  return `[${source}]`.padEnd(TAG_WIDTH);
}

export function createLogger(options: LoggerOptions): Logger {
  return {
    log(level, source, said, fields = {}) {
      const secrets = options.secrets();
      const message = asLine(typeof said === 'string' ? said : textOf(said));
      const code = typeof said === 'string' ? {} : { code: said.of.code };
      if (options.format === 'json') {
        const row = {
          time: new Date(options.now()).toISOString(),
          level,
          source,
          message,
          ...code,
          ...fields,
        };
        options.write(`${redact(JSON.stringify(row), secrets)}\n`);
        return;
      }
      const prefix = level === 'info' ? '' : `${level}: `;
      const { repository, issue } = fields;
      const where = typeof repository === 'string' ? `${repository}: ` : '';
      const isNamed = level === 'info' || typeof issue !== 'number' || new RegExp(`#${issue}\\b`).test(message);
      const about = isNamed ? '' : `issue #${issue}: `;
      const end = typeof said === 'string' ? '' : ` (${said.of.code})`;
      options.write(redact(`${tag(source)} ${prefix}${where}${about}${message}${end}\n`, secrets));
    },
  };
}
