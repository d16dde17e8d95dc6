import type { LogRow, ResourceRow } from './details.ts';
import type { Installation } from './installation.ts';

/** What the letters of the log mean. */
const happened: Readonly<Record<string, string>> = {
  c: 'created',
  e: 'edited',
  m: 'edited with others',
  u: 'uploaded a file',
  d: 'downloaded',
  s: 'changed the state',
  a: 'changed the access',
  b: 'added an alternative file',
  y: 'deleted an alternative file',
  f: 'replaced the file',
  t: 'transformed the file',
  x: 'deleted',
  xx: 'deleted for good',
  r: 'relation changed',
  v: 'viewed',
  p: 'printed',
  l: 'logged in',
  o: 'ordered',
  E: 'shared by e-mail',
  S: 'shared with a key',
  ap: 'approved',
  n: 'annotated',
};

const LONGEST = 50_000;

function nameOf({ users }: Installation, user: number | null): string {
  return users.find(({ ref }) => ref === user)?.username ?? (user === null ? 'somebody' : `user ${user}`);
}

function lineOf(installation: Installation, { date, user, type, field, notes, diff }: LogRow): string {
  const label = installation.fields.find(({ ref }) => ref === field)?.label;
  const what = happened[type ?? ''] ?? `action ${type ?? '?'}`;
  const more = [label, notes, diff]
    .flatMap((text) =>
      text === undefined || text === null || text.trim() === '' ? [] : [text.trim().replaceAll(/\s+/g, ' ')],
    )
    .join(', ');
  return `${date ?? 'unknown time'} ${nameOf(installation, user)} ${what}${more === '' ? '' : `: ${more}`}`;
}

/** Returns the history of a resource as text, newest first, as far as it fits into a field. */
export function historyText(
  installation: Installation,
  log: readonly LogRow[],
): { text: string; isCut: boolean } {
  const lines: string[] = [];
  let length = 0;
  for (const row of log) {
    const line = lineOf(installation, row);
    length += line.length + 1;
    if (length > LONGEST) return { text: lines.join('\n'), isCut: true };
    lines.push(line);
  }
  return { text: lines.join('\n'), isCut: false };
}

/** Returns the rating that each user gave. */
export function ratingsText(
  installation: Installation,
  ratings: NonNullable<ResourceRow['ratings']>,
): string {
  return ratings.map(({ user, rating }) => `${nameOf(installation, user)}: ${rating ?? 0}`).join('\n');
}

/** Returns records of licences or consents as readable text. */
export function recordsText(records: readonly Record<string, unknown>[]): string {
  return records
    .map((record) =>
      Object.entries(record)
        .filter(([, value]) => value !== null && value !== '')
        .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${String(value)}`)
        .join('\n'),
    )
    .join('\n\n');
}
