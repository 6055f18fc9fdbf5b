// Traces by OpenTelemetry, sent over OTLP/HTTP as JSON. Its packages are optional, and loaded at the first use alone.

import type { Span as OtelSpan } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { HeldTimers } from './held-timers.ts';
import { openAgents } from './otlp-agents.ts';
import { packageRoot } from './package-root.ts';
import { packageVersion } from './package-version.ts';
import { peerInstall } from './peer-install.ts';
import type { Clock, Logger } from './ports.ts';
import { BASE_CODES } from './rules/base-codes.ts';
import { refusal } from './rules/codes.ts';
import type { Environment } from './rules/environment.ts';
import { failure, messageOf } from './rules/errors.ts';
import { checkOtlpSettings } from './rules/otlp-settings.ts';
import type { Facts, Span, Tracer } from './rules/span.ts';
import { oneLine } from './rules/text.ts';

/** The newest that run on Node 20. */
export const TRACE_PACKAGES = [
  '@opentelemetry/api@1.9',
  '@opentelemetry/resources@2.12',
  '@opentelemetry/sdk-trace-base@2.12',
  '@opentelemetry/exporter-trace-otlp-http@0.223',
] as const;

/** A collector that gives no answer keeps the end of the process waiting for so long. */
const CLOSE_MS = 2_000;
const SERVICE = 'toolcrew';
const ERROR_STATUS = 2;
/** The code of an export. */
const FAILED = 1;

type ExportResult = Parameters<Parameters<SpanExporter['export']>[1]>[0];

export type OtlpTracer = Tracer & { readonly close: () => Promise<void> };

async function load(command: string) {
  try {
    const [api, resources, sdk, exporter] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ]);
    return { api, resources, sdk, exporter };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
    if (!isMissing || !/'@opentelemetry\//.test(messageOf(error))) throw error;
    const how = peerInstall(packageRoot(), TRACE_PACKAGES, command);
    throw failure(BASE_CODES.trace_package_missing, { command: how }, { cause: error });
  }
}

function named(facts: Facts = {}): Facts {
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [`${SERVICE}.${name}`, value]));
}

/**
 * Reads `OTEL_*` of this process's own environment, once. Throws a ToolError where packages or settings are missing or wrong.
 * @param command that npx runs, for the advice where packages are missing
 */
export async function openTracer(env: Environment, clock: Clock, log: Logger, command: string): Promise<OtlpTracer> {
  checkOtlpSettings(env);
  const { api, resources, sdk, exporter } = await load(command);
  const agents = openAgents(env);
  const sender: SpanExporter = new exporter.OTLPTraceExporter({ httpAgentOptions: agents.agentFor });
  const timers = new HeldTimers();
  const open = new Set<() => void>();
  let isSaid = false;
  let isClosed = false;
  const tell = (said: string) => {
    // Once for each time that it is away.
    if (!isSaid) log.log('warn', 'serve', refusal(BASE_CODES.traces_not_taken, { said: oneLine(said, 200) }));
    isSaid = true;
  };
  const told: SpanExporter = {
    export: (spans, done) => {
      if (isClosed) return done({ code: FAILED });
      timers.run((over) => {
        const end = (result: ExportResult) => {
          if (!open.delete(cutOff)) return;
          over();
          if (result.code === 0) isSaid = false;
          else tell(result.error === undefined ? 'no answer' : messageOf(result.error));
          done(result);
        };
        const cutOff = () => end({ code: FAILED });
        open.add(cutOff);
        sender.export(spans, end);
      });
    },
    shutdown: () => sender.shutdown(),
  };
  const own = { 'service.name': SERVICE, 'service.version': packageVersion() };
  const provider = new sdk.BasicTracerProvider({
    // What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say goes before.
    resource: resources
      .resourceFromAttributes(own)
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(told)],
  });
  const tracer = provider.getTracer(SERVICE, packageVersion());
  const begin = (name: string, facts: Facts, parent: OtelSpan | null, at: number | undefined): Span => {
    const context = parent === null ? api.ROOT_CONTEXT : api.trace.setSpan(api.ROOT_CONTEXT, parent);
    const span = tracer.startSpan(name, { attributes: named(facts), startTime: at ?? clock.now() }, context);
    const { traceId, spanId, traceFlags } = span.spanContext();
    return {
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      start: (below, more = {}, since) => begin(below, more, span, since),
      end: (code, more) => {
        if (!span.isRecording()) return;
        span.setAttributes(named(more));
        if (code !== undefined) {
          span.setStatus({ code: ERROR_STATUS });
          span.setAttribute(`${SERVICE}.code`, code);
        }
        span.end(clock.now());
      },
    };
  };
  const parentOf = (text: string): OtelSpan | null => {
    const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text) ?? [];
    if (traceId === undefined || spanId === undefined || flags === undefined) return null;
    return api.trace.wrapSpanContext({ traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true });
  };
  return {
    start: (name, facts, { parent, at } = {}) => begin(name, facts, parent === undefined ? null : parentOf(parent), at),
    close: async () => {
      const over = new AbortController();
      const late = clock.sleep(CLOSE_MS, over.signal);
      // The first export that fails ends the provider's wait: others are still on their way.
      const sent = provider
        .shutdown()
        .catch(() => undefined)
        .then(() => sender.shutdown());
      await Promise.race([late, sent]);
      over.abort();
      isClosed = true;
      agents.close();
      timers.clear();
      for (const cutOff of [...open]) cutOff();
    },
  };
}
