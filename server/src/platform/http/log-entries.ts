/** Names of properties that hold headers, forms or credentials. */
const secretive =
  /header|authori[sz]ation|cookie|password|passphrase|secret|token|credential|busboy|body|connectionString/i;

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
      ? { errors: error.errors.map((one) => describeError(one, depth + 1)) }
      : {}),
  };
}

/** How every logger of the product writes entries and errors. */
export const safeLogForm = {
  serializers: { err: (error: unknown) => describeError(error) },
  formatters: { log: withoutHeaders },
};
