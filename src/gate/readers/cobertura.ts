// Coverage reports in XML; the reader of XML is loaded when there is one.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { failure } from '../../base/rules/errors.ts';
import { type Coverage, coverageOf, reportedPath } from '../rules/coverage.ts';
import { GATE_CODES } from '../rules/gate-codes.ts';

/** Cobertura. Files are named from one of its sources; a file that comes several times counts once. */
export async function readCobertura(text: string, root: string): Promise<Coverage> {
  const { parseXml, XmlElement } = await import('./xml.ts');
  type Element = InstanceType<typeof XmlElement>;
  const { root: report } = parseXml(text);
  if (report?.name !== 'coverage')
    throw failure(GATE_CODES.coverage_format_wrong, { expected: '<coverage>', got: `<${report?.name ?? 'nothing'}>` });

  const within = (element: Element, name: string): readonly Element[] =>
    element.children.flatMap((child) =>
      child instanceof XmlElement ? [...(child.name === name ? [child] : []), ...within(child, name)] : [],
    );
  if (within(report, 'class').length === 0 && within(report, 'file').length > 0)
    throw failure(GATE_CODES.coverage_format_wrong, {
      expected: '<class> elements as Cobertura has them',
      got: '<file> elements (Clover?)',
    });
  const sources = within(report, 'source').map((source) => source.text.trim());
  const files = new Map<string, Map<string, boolean>>();
  for (const unit of within(report, 'class')) {
    const path = pathOf(unit.attributes.filename ?? '', sources, root);
    const lines = files.get(path) ?? new Map<string, boolean>();
    files.set(path, lines);
    // Below <methods> the same lines come once more.
    for (const { attributes } of within(unit, 'line')) {
      const line = attributes.number ?? '';
      lines.set(line, lines.get(line) === true || Number(attributes.hits) > 0);
    }
  }
  return coverageOf(
    [...files].map(([path, lines]) => ({
      path,
      covered: [...lines.values()].filter(Boolean).length,
      total: lines.size,
    })),
  );
}

function pathOf(name: string, sources: readonly string[], root: string): string {
  if (name.startsWith('/')) return reportedPath(name, root);
  // A source below the root is the part of the path that the name leaves out.
  const below = sources
    .map((source) => reportedPath(source, root).replace(/\/+$/, ''))
    .filter((source) => source !== '' && !/^([/.]|[A-Za-z]:)/.test(source))
    .map((source) => reportedPath(`${source}/${name}`, root));
  const own = reportedPath(name, root);
  return [...below, own].find((path) => existsSync(join(root, path))) ?? below[0] ?? own;
}
