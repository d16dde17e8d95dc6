/** The filters of the audit log. */
export interface AuditFilter {
  readonly actor?: number;
  readonly subject?: number;
  readonly event?: string;
}

function refIn(text: string | null): number | undefined {
  const ref = Number(text);
  return text !== null && /^[1-9]\d*$/.test(text) && Number.isSafeInteger(ref) ? ref : undefined;
}

/** Returns the filter in an address; ignores invalid parts. */
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

/** Returns the address of the page with this filter. */
export function auditAddress(filter: AuditFilter): string {
  return `/admin/audit${searchOf(filter)}`;
}

/** Returns the address of the CSV export with this filter. */
export function auditExportAddress(filter: AuditFilter): string {
  return `/api/v1/admin/audit/export${searchOf(filter)}`;
}

/** Parses a person typed into a filter: a number is a ref, anything else a username, with an optional `@`. */
export function readPerson(typed: string): { ref: number } | { username: string } | undefined {
  const text = typed.trim();
  const ref = refIn(text);
  if (ref !== undefined) return { ref };
  const username = text.replace(/^@/, '');
  return username === '' ? undefined : { username };
}
