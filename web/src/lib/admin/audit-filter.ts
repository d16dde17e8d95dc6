/** The filters of the audit log. */
export interface AuditFilter {
  readonly actor?: number;
  readonly subject?: number;
  readonly event?: string;
  /** The first moment, and the one after the last. */
  readonly from?: string;
  readonly to?: string;
}

function momentIn(text: string | null): string | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** Returns the start of a day in the user's time zone, or of the `later`-th day after it; undefined for no day. */
export function startOfDay(day: string, later = 0): string | undefined {
  const start = new Date(`${day}T00:00:00`);
  if (Number.isNaN(start.getTime())) return undefined;
  start.setDate(start.getDate() + later);
  return start.toISOString();
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
  const [from, to] = [momentIn(search.get('from')), momentIn(search.get('to'))];
  return {
    ...(actor === undefined ? {} : { actor }),
    ...(subject === undefined ? {} : { subject }),
    ...(event === '' ? {} : { event }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
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
