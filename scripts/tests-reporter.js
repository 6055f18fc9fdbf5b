// A reporter of node:test: for each test that ended an object, a line each: how it ended, and where in which file it stands.
// Plain JavaScript: Node loads it as it is.

/** @param {AsyncIterable<import('node:test/reporters').TestEvent>} events */
// biome-ignore lint/style/noDefaultExport: Node takes a reporter by its default export
export default async function* testsReporter(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { file = data.name, line = 1, column = 1 } = data;
    const how = type === 'test:fail' ? 'failed' : data.skip === undefined ? 'passed' : 'skipped';
    yield `${JSON.stringify({ how, file, line, column })}\n`;
  }
}
