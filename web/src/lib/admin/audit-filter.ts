/** What the audit log is narrowed to. */
export interface AuditFilter {
  readonly actor?: number;
  readonly subject?: number;
  readonly event?: string;
}

function refIn(text: string | null): number | undefined {
  const ref = Number(text);
  return text !== null && /^[1-9]\d*$/.test(text) && Number.isSafeInteger(ref) ? ref : undefined;
}

/** The filter an address asks for; what it does not understand is left out. */
export function readAuditFilter(search: Pick<URLSearchParams, 'get'>): AuditFilter {
  const actor = refIn(search.get('actor'));
  const subject = refIn(search.get('subject'));
  const event = search.get('event')?.trim() ?? '';
  return {
    ...(actor === undefined ? {} : { actor }),
    ...(subject === undefined ? {} : { subject }),
    ...(event === '' ? {} : { event }),
  };
}

function searchOf(filter: AuditFilter): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) search.set(name, String(value));
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

/** The page that shows this filter. */
export function auditAddress(filter: AuditFilter): string {
  return `/admin/audit${searchOf(filter)}`;
}

/** The same events as a file. */
export function auditExportAddress(filter: AuditFilter): string {
  return `/api/v1/admin/audit/export${searchOf(filter)}`;
}

/** Somebody typed into a filter: a number is a ref, anything else a username; `@` says username in any case. */
export function readPerson(typed: string): { ref: number } | { username: string } | undefined {
  const text = typed.trim();
  const ref = refIn(text);
  if (ref !== undefined) return { ref };
  const username = text.replace(/^@/, '');
  return username === '' ? undefined : { username };
}
