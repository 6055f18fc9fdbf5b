// A reporter of node:test: the path of each file in which something failed, a line each. Plain JavaScript, since Node loads
// reporters before tsx reads TypeScript.

/** @param {AsyncIterable<import('node:test/reporters').TestEvent>} events */
// biome-ignore lint/style/noDefaultExport: Node takes a reporter by its default export
export default async function* failedFiles(events) {
  const told = new Set();
  for await (const event of events) {
    if (event.type !== 'test:fail') continue;
    // A file that ends before it has reported anything is a failure by its own name.
    const file = event.data.file ?? event.data.name;
    if (told.has(file)) continue;
    told.add(file);
    yield `${file}\n`;
  }
}
