// A reporter of node:test: for each test that ended, a line with the file in which it stands.
// Plain JavaScript: Node loads it as it is.

/** @param {AsyncIterable<import('node:test/reporters').TestEvent>} events */
// biome-ignore lint/style/noDefaultExport: Node takes a reporter by its default export
export default async function* testsReporter(events) {
  for await (const { type, data } of events)
    if (type === 'test:pass' || type === 'test:fail') yield `${data.file ?? data.name}\n`;
}
