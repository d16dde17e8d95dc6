import { redact, suspicious } from './redact.ts';

/** Names of properties that hold headers, forms or credentials. */
const secretive =
  /header|authori[sz]ation|cookie|passw(or)?d|passphrase|secret|token|credential|signature|(api|access|private)_?key(?!_?id)|busboy|body|connectionString/i;

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Returns an address for the log, without its query and without segments that look like a share link's token. */
export function withoutSecrets(url: string): string {
  const path = url.split('?')[0] ?? '';
  const isToken = (segment: string) => /^[A-Za-z0-9]{32}$/.test(decoded(segment));
  return path
    .split('/')
    .map((segment) => (isToken(segment) ? '***' : segment))
    .join('/');
}

/**
 * Returns an entry of the log without properties that may hold credentials (RUN-10). Libraries log through the same
 * logger: the form parser, for example, writes all headers of a request.
 */
function withoutHeaders(entry: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !secretive.test(name)));
}

interface DescribedError {
  type: string;
  message: string;
  stack: string;
  [fact: string]: unknown;
}

/** Properties of errors that say what failed and hold no values. */
const telling = ['code', 'syscall', 'errno', 'severity', 'routine', 'schema', 'table', 'constraint'];

/** How many causes of causes are logged; a chain of them may be a circle. */
const MOST_CAUSES = 8;

/**
 * Describes an error for the log. Other properties are left out: those of libraries may hold requests with their
 * headers, and those of PostgreSQL the values of a row.
 */
function describeError(error: unknown, depth = 0): DescribedError {
  if (!(error instanceof Error) || depth === MOST_CAUSES)
    return { type: typeof error, message: '', stack: '' };
  const facts = Object.entries(error).filter(
    ([name, value]) => telling.includes(name) && (typeof value === 'string' || typeof value === 'number'),
  );
  return {
    type: error.name,
    message: error.message,
    stack: error.stack ?? '',
    ...Object.fromEntries(facts),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause, depth + 1) }),
    ...(error instanceof AggregateError
      ? { errors: error.errors.map((cause) => describeError(cause, depth + 1)) }
      : {}),
  };
}

/** Returns a value of an entry without properties that may hold credentials, at any depth, and without credentials in texts. */
function cleaned(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return redact(value, secrets);
  if (Array.isArray(value)) return value.map((item) => cleaned(item, secrets));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !secretive.test(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, cleaned(member, secrets)]));
}

/** Returns a line of the log without credentials. It is the last step, so that nothing that is written escapes it. */
function cleanLine(line: string, secrets: readonly string[]): string {
  if (!suspicious.test(line) && !secrets.some((secret) => line.includes(secret))) return line;
  try {
    return `${JSON.stringify(cleaned(JSON.parse(line), secrets))}\n`;
  } catch {
    return redact(line, secrets);
  }
}

/** Serialises errors of entries. */
const errorSerializer = (error: unknown) => describeError(error);

/** Returns how every logger of the product writes entries and errors; `secrets` are the ones that this process has. */
export function safeLogForm(secrets: readonly string[]) {
  // The line has them as JSON does, with escapes.
  const written = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
  const known = [...new Set([...secrets, ...written])];
  return {
    serializers: { err: errorSerializer },
    formatters: { log: withoutHeaders },
    hooks: { streamWrite: (line: string) => cleanLine(line, known) },
  };
}
