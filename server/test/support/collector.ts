import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen } from './listen.ts';

/** A span in OTLP's JSON, with the properties that tests read. */
interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: number; boolValue?: boolean } }[];
  links?: { traceId: string; spanId: string }[];
  status: { code?: number };
}

interface ReceivedSpan extends Omit<OtlpSpan, 'attributes'> {
  attributes: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** A collector of traces: OTLP over HTTP in JSON, on a free port. */
export interface Collector {
  address: string;
  /** All spans so far. */
  spans: readonly ReceivedSpan[];
  /** The headers of the last export. */
  headers(): Readonly<Record<string, string | string[] | undefined>>;
  /** Waits for the first span that matches. */
  find(fits: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan>;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const received = new EventTarget();
  let headers = {};
  const server = createServer(async (request, response) => {
    headers = request.headers;
    // The exporter sends the JSON that OTLP defines.
    const body = (await json(request)) as { resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] };
    const arrived = body.resourceSpans
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap((scope) => scope.spans);
    for (const span of arrived) {
      const attributes = span.attributes.map(({ key, value }) => [
        key,
        value.stringValue ?? value.intValue ?? value.boolValue,
      ]);
      spans.push({ ...span, attributes: Object.fromEntries(attributes) });
    }
    const isRight = request.method === 'POST' && request.url === '/v1/traces';
    response.writeHead(isRight ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
    received.dispatchEvent(new Event('spans'));
  });
  return {
    address: `http://127.0.0.1:${await listen(server)}`,
    spans,
    headers: () => headers,
    async find(fits) {
      for (;;) {
        const found = spans.find(fits);
        if (found !== undefined) return found;
        await once(received, 'spans');
      }
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
