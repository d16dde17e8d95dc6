import { type Sentence, sentence } from '../language/sentence.ts';

/** Where traces are sent. */
export interface TracingSettings {
  /** The address that takes spans as OTLP over HTTP. */
  url: string;
  /** Headers of each export, such as the key of the service. */
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  /** The share of requests and jobs that are traced, from 0 to 1. */
  share: number;
}

/** The standard settings of OpenTelemetry that apply, part of the closed list in config.ts. */
export const tracingSettingNames = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_SERVICE_NAME',
  'OTEL_TRACES_SAMPLER_ARG',
] as const;
type Name = (typeof tracingSettingNames)[number];

interface SettingsSource {
  /** The value; null when unset. */
  value(name: Name): string | null;
  /** Creates the error that stops the start with this one line. */
  refusal(reason: Sentence): Error;
}

/** Returns the headers of a list such as `key=value,other=value`; values may be percent-encoded. */
function readHeaders({ value, refusal }: SettingsSource): Record<string, string> {
  const entries = (value('OTEL_EXPORTER_OTLP_HEADERS') ?? '')
    .split(',')
    .filter((entry) => entry.trim() !== '');
  const headers = entries.map((entry) => {
    const [, name, text] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(entry) ?? [];
    try {
      if (name !== undefined && text !== undefined) return [name, decodeURIComponent(text)] as const;
    } catch {}
    // The value is not repeated, as it is usually a secret.
    throw refusal(sentence('OTEL_EXPORTER_OTLP_HEADERS must be a list such as name=value,other=value'));
  });
  return Object.fromEntries(headers);
}

/** Reads the settings of traces; null when no endpoint is set. */
export function readTracingSettings(source: SettingsSource): TracingSettings | null {
  const { value, refusal } = source;
  const endpoint = value('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (endpoint === null) return null;
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || /[?#]/.test(endpoint))
    throw refusal(
      sentence('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https address, such as http://127.0.0.1:4318'),
    );
  const share = value('OTEL_TRACES_SAMPLER_ARG') ?? '1';
  if (!/^(?:0|1|[01]?\.\d+)$/.test(share) || Number(share) > 1)
    throw refusal(
      sentence('{name} must be a number from {least} to {most}', {
        name: 'OTEL_TRACES_SAMPLER_ARG',
        least: '0',
        most: '1',
      }),
    );
  return {
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: readHeaders(source),
    serviceName: value('OTEL_SERVICE_NAME') ?? 'vitrine',
    share: Number(share),
  };
}
