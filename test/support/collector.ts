// A collector of OpenTelemetry on loopback: it takes traces over OTLP/HTTP as JSON, and keeps what it was sent.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import { type Cleanup, finallyDo } from './temp.ts';

const value = z.union([
  z.object({ stringValue: z.string() }).transform((one) => one.stringValue),
  z.object({ intValue: z.union([z.string(), z.number()]) }).transform((one) => Number(one.intValue)),
  z.object({ boolValue: z.boolean() }).transform((one) => one.boolValue),
]);
const attributes = z
  .array(z.object({ key: z.string(), value }))
  .transform((all) => Object.fromEntries(all.map((one) => [one.key, one.value])));
const span = z.object({
  name: z.string(),
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().default(''),
  startTimeUnixNano: z.coerce.bigint(),
  endTimeUnixNano: z.coerce.bigint(),
  attributes,
  status: z.object({ code: z.number().default(0) }),
});
const sent = z.object({
  resourceSpans: z.array(
    z.object({ resource: z.object({ attributes }), scopeSpans: z.array(z.object({ spans: z.array(span) })) }),
  ),
});
export type SentSpan = z.infer<typeof span> & { readonly service: unknown };

export class Collector {
  url = '';
  readonly spans: SentSpan[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  /** All bodies. */
  text = '';
  /** What it answers. */
  status = 200;
  /** It takes requests and gives no answer. */
  isSilent = false;

  static async start(t: Cleanup): Promise<Collector> {
    const collector = new Collector();
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      collector.#take(request.url ?? '', request.headers, body);
      if (collector.isSilent) return;
      response.writeHead(collector.status, { 'content-type': 'application/json' });
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    finallyDo(t, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const place = server.address();
    collector.url = `http://127.0.0.1:${typeof place === 'object' && place !== null ? place.port : 0}`;
    return collector;
  }

  #take(path: string, headers: IncomingHttpHeaders, body: string): void {
    this.headers.push(headers);
    this.text += body;
    if (path !== '/v1/traces' || this.status !== 200) return;
    for (const { resource, scopeSpans } of sent.parse(JSON.parse(body)).resourceSpans)
      for (const { spans } of scopeSpans)
        this.spans.push(...spans.map((one) => ({ ...one, service: resource.attributes['service.name'] })));
  }

  named(name: string): readonly SentSpan[] {
    return this.spans.filter((one) => one.name === name);
  }

  /** Spans as `name < name of its parent`, in the order of their starts. */
  get tree(): readonly string[] {
    const nameOf = (id: string) => this.spans.find(({ spanId }) => spanId === id)?.name ?? '';
    return [...this.spans]
      .sort((a, b) => Number(a.startTimeUnixNano - b.startTimeUnixNano))
      .map((one) => (one.parentSpanId === '' ? one.name : `${one.name} < ${nameOf(one.parentSpanId)}`));
  }
}
