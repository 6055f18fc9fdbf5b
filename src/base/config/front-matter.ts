// The one place that reads front matter: YAML only, nothing in it is ever evaluated.

import { matter } from '../gray-matter.ts';
import { BASE_CODES } from '../rules/base-codes.ts';
import { failure } from '../rules/errors.ts';
import { readYaml, readYamlLoosely } from './yaml-text.ts';

/** The data of the YAML; of its problems the first is said. */
function parseYaml(text: string, name: string): unknown {
  const read = readYaml(text);
  if (read.ok) return read.data;
  const [{ words, line, column }] = read.problems;
  const place = line === null || column === null ? {} : { line, column };
  throw failure(BASE_CODES.yaml_invalid, { file: name, said: words, ...place });
}

function refuse(language: string, file: string) {
  return () => {
    throw failure(BASE_CODES.front_matter_language, { file, language });
  };
}

/**
 * Splits a text into the data of its YAML front matter and the rest.
 * @param name what errors call the text
 * @returns `data` undefined when there is no front matter; `line`: of the text on which `content` begins, from 1
 */
export function parseFrontMatter(text: string, name: string): { data: unknown; content: string; line: number } {
  const clean = text.replace(/^\uFEFF/, '').replace(/\r\n/g, '\n');
  if (!clean.startsWith('---\n')) {
    const language = /^---(\S+)/.exec(clean)?.[1];
    if (language !== undefined && language !== '-') return refuse(language, name)();
    return { data: undefined, content: clean, line: 1 };
  }
  if (!/\n---[ \t]*(\n|$)/.test(clean.slice(3))) throw failure(BASE_CODES.front_matter_open, { file: name });
  let data: unknown;
  const parsed = matter(clean, {
    language: 'yaml',
    engines: {
      yaml: (source: string) => {
        data = parseYaml(source, name);
        return typeof data === 'object' && data !== null ? data : {};
      },
      javascript: refuse('javascript', name),
      json: refuse('json', name),
    },
  });
  // The content is the end of the text.
  const line = clean.slice(0, clean.length - parsed.content.length).split('\n').length;
  return { data: data ?? {}, content: parsed.content, line };
}

/** What can be read of the front matter of a text that may be wrong; nothing at the worst. Never throws. */
export function readFrontMatterLoosely(text: string): unknown {
  const [, yaml = ''] = /^\uFEFF?---[ \t]*\r?\n(.*?)(?:\r?\n---[ \t]*(?:\r?\n|$)|$)/s.exec(text) ?? [];
  return readYamlLoosely(yaml);
}
