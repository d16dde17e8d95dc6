import { type Sentence, sentence, verbatim, WordedError } from '../language/sentence.ts';

const refused = sentence('the connection was refused');
const nameUnknown = sentence('the name of the server was not found');
const tooSlow = sentence('there was no answer in time');
const connectionLost = sentence('the connection was lost');
const unreachable = sentence('the network does not reach the server');
const certificateUntrusted = sentence('its certificate is not from an authority that this machine trusts');
const wrongPassword = sentence('the name or the password is wrong');
const accessDenied = sentence('access is denied');
const noDatabase = sentence('there is no such database');
const tooManyConnections = sentence('the server has too many connections');
const notReady = sentence('the server is starting, stopping or overloaded');
const noBucket = sentence('there is no such bucket');
const wrongRegion = sentence('the bucket is in another region');
const encryptionRequired = sentence('the directory requires an encrypted connection');
const diskFull = sentence('the disk is full');

/**
 * What the codes of Node, OpenSSL, PostgreSQL, MySQL, S3 and LDAP mean. A code means the same in all of
 * them.
 */
const meanings: ReadonlyMap<string, Sentence> = new Map([
  ['ECONNREFUSED', refused],
  ['ENOTFOUND', nameUnknown],
  ['EAI_AGAIN', nameUnknown],
  ['ETIMEDOUT', tooSlow],
  ['TimeoutError', tooSlow],
  ['AbortError', tooSlow],
  ['ECONNRESET', connectionLost],
  ['EPIPE', connectionLost],
  ['PROTOCOL_CONNECTION_LOST', connectionLost],
  ['EHOSTUNREACH', unreachable],
  ['ENETUNREACH', unreachable],
  ['CERT_HAS_EXPIRED', sentence('its certificate has expired')],
  ['CERT_NOT_YET_VALID', sentence('its certificate is not valid yet')],
  ['ERR_TLS_CERT_ALTNAME_INVALID', sentence('its certificate is for another name')],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', certificateUntrusted],
  ['SELF_SIGNED_CERT_IN_CHAIN', certificateUntrusted],
  ['UNABLE_TO_GET_ISSUER_CERT', certificateUntrusted],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', certificateUntrusted],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', certificateUntrusted],
  ['EPROTO', sentence('the connection could not be encrypted')],
  ['EACCES', accessDenied],
  ['EPERM', accessDenied],
  ['ENOENT', sentence('it does not exist')],
  ['ENOTDIR', sentence('it is not a directory')],
  ['ENOSPC', diskFull],
  ['EDQUOT', diskFull],
  ['EROFS', sentence('the file system is read-only')],
  ['EIO', sentence('the disk reported an error')],
  ['EMFILE', sentence('too many files are open')],
  // PostgreSQL
  ['28P01', wrongPassword],
  ['28000', sentence('the server does not admit this user from here')],
  ['3D000', noDatabase],
  ['42501', accessDenied],
  ['53300', tooManyConnections],
  ['57P01', notReady],
  ['57P02', notReady],
  ['57P03', notReady],
  // MySQL and MariaDB
  ['ER_ACCESS_DENIED_ERROR', wrongPassword],
  ['ER_BAD_DB_ERROR', noDatabase],
  ['ER_DBACCESS_DENIED_ERROR', accessDenied],
  ['ER_TABLEACCESS_DENIED_ERROR', accessDenied],
  ['ER_NO_SUCH_TABLE', sentence('there is no such table')],
  ['ER_CON_COUNT_ERROR', tooManyConnections],
  // S3
  ['NoSuchBucket', noBucket],
  ['AccessDenied', accessDenied],
  ['Forbidden', accessDenied],
  ['InvalidAccessKeyId', sentence('the access key is not known')],
  ['SignatureDoesNotMatch', sentence('the secret key does not belong to the access key')],
  ['RequestTimeTooSkewed', sentence('the clock of this machine is wrong')],
  ['PermanentRedirect', wrongRegion],
  ['AuthorizationHeaderMalformed', wrongRegion],
  ['SlowDown', notReady],
  ['ServiceUnavailable', notReady],
  // LDAP
  ['InvalidCredentialsError', wrongPassword],
  ['NoSuchObjectError', sentence('the directory has no such entry')],
  ['InsufficientAccessError', accessDenied],
  ['StrongAuthRequiredError', encryptionRequired],
  ['ConfidentialityRequiredError', encryptionRequired],
  ['BusyError', notReady],
  ['UnavailableError', notReady],
]);

/** How many causes are looked at. */
const DEEPEST = 5;

/** Returns the codes of an error, of those that it joins, and of its causes, the outermost first. */
function codesOf(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth > DEEPEST) return [];
  const code: unknown = 'code' in error ? error.code : null;
  const joined: unknown[] = error instanceof AggregateError ? error.errors.slice(0, 1) : [];
  return [
    ...(typeof code === 'string' ? [code] : []),
    error.name,
    ...[...joined, error.cause].flatMap((inner) => codesOf(inner, depth + 1)),
  ];
}

function meaningOf(codes: readonly string[]): Sentence | undefined {
  const isAboutTls = codes.some((code) => code.startsWith('ERR_SSL_'));
  return (
    codes.map((code) => meanings.get(code)).find((known) => known !== undefined) ??
    (isAboutTls ? meanings.get('EPROTO') : undefined)
  );
}

/** Returns what a program or service says, in one line. Some of its errors have only a code. */
function ownWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = error.message.trim().replaceAll(/\s*\n\s*/g, '; ');
  if (message !== '') return message;
  return 'code' in error ? String(error.code) : error.name;
}

/** Returns what codes mean, with the words of the program or service behind it; its words alone if none is known. */
export function meaningInWords(codes: readonly string[], words: string): Sentence {
  const reason = meaningOf(codes);
  return reason === undefined
    ? verbatim(words)
    : sentence('{reason} (“{detail}”)', { reason, detail: words });
}

/**
 * Returns what an error says, to be said later: our own sentence, or what the code of another program or service means,
 * with its own words behind it. An error without a known code keeps its words.
 */
export function sentenceOfError(error: unknown): Sentence {
  if (error instanceof WordedError && error.sentence !== null) return error.sentence;
  return meaningInWords(codesOf(error), ownWords(error));
}
