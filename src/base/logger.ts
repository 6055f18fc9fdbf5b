// The daemon's log on stderr: a bracketed source and one line, or one JSON object a line.

import type { Logger, LogSource } from './ports.ts';
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
    log(level, source, message, fields = {}) {
      const secrets = options.secrets();
      if (options.format === 'json') {
        const row = {
          time: new Date(options.now()).toISOString(),
          level,
          source,
          message: asLine(message),
          ...fields,
        };
        options.write(`${redact(JSON.stringify(row), secrets)}\n`);
        return;
      }
      const prefix = level === 'info' ? '' : `${level}: `;
      options.write(redact(`${tag(source)} ${prefix}${asLine(message)}\n`, secrets));
    },
  };
}
