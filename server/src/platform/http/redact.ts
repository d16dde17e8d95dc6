/** Words in the names of properties and parameters whose values are credentials. */
const names =
  'passw(?:or)?d|passwd|pwd|passphrase|secret|token|api[-_]?key|access[-_]?key(?![-_]?id)|private[-_]?key|authori[sz]ation|credential|signature|cookie';

/** A name with its value in quotes, which may themselves be escaped, or up to the end of a word. */
const pair = new RegExp(
  String.raw`((?:${names})[\w-]{0,40}(?:\\*["'])?\s{0,3}[:=]\s{0,3})(?:(\\*["'])(?:(?!\2).){0,4000}(?:\2|$)|[^\s"'\\,;&)}\]]+)`,
  'gis',
);

/** A header with credentials has several words; its line may end with the text. */
const header = /((?:set-)?cookie|(?:proxy-)?authori[sz]ation)(\s{0,3}[:=]\s{0,3})(?!\\*["'])[^\n\r"']+/gi;

const rules: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/gs, '***'],
  // Passwords in addresses of databases, directories and mail servers may have unescaped signs.
  [/\b((?:postgres(?:ql)?|mysql|redis|smtps?|ldaps?|amqps?):\/\/)[^\s"'<>]{0,2000}@/gi, '$1***@'],
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"'<>]{0,2000}@/gi, '$1***@'],
  [header, '$1$2***'],
  [/\b(Bearer|Negotiate|Digest)(\s+)[^\s"'\\,;]{6,}/gi, '$1$2***'],
  [/\b(Basic|AUTH (?:PLAIN|LOGIN|XOAUTH2|CRAM-MD5))(\s+)[A-Za-z0-9+/]{6,}={0,2}/g, '$1$2***'],
  [/vt_pat_[A-Za-z0-9]+/g, 'vt_pat_***'],
  // Addresses of share links and other pages that are secrets, whose tokens may be percent-encoded.
  [/(\/(?:s|links|invite|invitations|reset|password-reset|verify)\/)[A-Za-z0-9%]{32,100}/g, '$1***'],
];

/**
 * Returns a text for the log without what looks like a credential, whatever wrote it: passwords in addresses, values of
 * headers, tokens, keys and parameters with telling names (RUN-10). Also hides these secrets of the process.
 */
export function redact(text: string, secrets: readonly string[] = []): string {
  let safe = text;
  for (const secret of secrets) safe = safe.replaceAll(secret, '***');
  for (const [pattern, replacement] of rules) safe = safe.replace(pattern, replacement);
  return safe.replace(
    pair,
    (_, name: string, quote: string | undefined) => `${name}${quote ?? ''}***${quote ?? ''}`,
  );
}

/** Whether a line may contain a credential, which is cheaper to check than to search for each kind. */
export const suspicious = new RegExp(
  `${names}|:\\/\\/|bearer|negotiate|digest|basic|auth|vt_pat_|\\/s\\/|\\/links\\/|\\/invit|reset\\/|\\/verify\\/|private key|header|busboy|body|connectionString`,
  'i',
);
