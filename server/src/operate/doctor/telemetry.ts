import { sentence } from '../../platform/language/sentence.ts';
import { type Examination, type Finding, passed, warning } from './check.ts';

/** Timeout of the collector's response. */
const ANSWER_WITHIN_MS = 3000;

const remedy = sentence(
  'Check OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS, and that the collector takes OTLP over HTTP.',
);

/** Sends an empty export to the collector, which it must accept. */
async function askCollector({
  url,
  headers,
}: {
  url: string;
  headers: Readonly<Record<string, string>>;
}): Promise<Finding> {
  const { host } = new URL(url);
  const asked = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: [] }),
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  }).catch(() => null);
  await asked?.body?.cancel();
  if (asked === null) return warning(sentence('traces are lost: {host} does not answer', { host }), remedy);
  if (!asked.ok)
    return warning(
      sentence('traces are lost: {host} refuses them with {status}', { host, status: String(asked.status) }),
      remedy,
    );
  return passed(sentence('traces go to {host}', { host }));
}

const traces: Examination = {
  code: 'traces',
  title: sentence('Traces'),
  look: async ({ config }) =>
    config.tracing === null
      ? passed(sentence('off: OTEL_EXPORTER_OTLP_ENDPOINT is not set'))
      : askCollector(config.tracing),
};

const metrics: Examination = {
  code: 'metrics',
  title: sentence('Metrics'),
  look: async ({ config }) =>
    passed(
      config.metricsToken === null
        ? sentence('off: VITRINE_METRICS_TOKEN is not set')
        : sentence('on, at {path}', { path: '/metrics' }),
    ),
};

export const telemetryExaminations = [metrics, traces];
