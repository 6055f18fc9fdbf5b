// A reporter of node:test: `ran` or `failed` and the path of the file, a line each, of every file in which a test ended so.
// Plain JavaScript, since Node loads reporters before tsx reads TypeScript.

/** @param {AsyncIterable<import('node:test/reporters').TestEvent>} events */
// biome-ignore lint/style/noDefaultExport: Node takes a reporter by its default export
export default async function* filesReporter(events) {
  const told = new Set();
  for await (const event of events) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const { file, name } = event.data;
    // A file without a test passes by its own name, and one that ends before it has reported anything fails by it.
    if (event.type === 'test:pass' && name === file) continue;
    const line = `${event.type === 'test:fail' ? 'failed' : 'ran'} ${file ?? name}\n`;
    if (told.has(line)) continue;
    told.add(line);
    yield line;
  }
}
