import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import { renewLink } from '../imports/links.ts';
import type { ReportEntry } from '../imports/report.ts';
import type { Context } from './context.ts';
import type { Staging } from './staging.ts';
import { readColumnTime } from './texts.ts';

interface KeyRow {
  access_key: string;
  resource: number | null;
  collection: number | null;
  access: number | null;
  expires: string | null;
  email: string | null;
  has_password: boolean;
  is_upload: boolean;
  is_category: boolean;
}

/** Share keys; one of a collection has a row for each of its resources, and one of a category also one without a resource. */
const allKeys = `select access_key, min(k.resource) as resource, case when count(distinct k.collection) = 1 then min(k.collection) end as collection,
  max(coalesce(k.access, 1)) as access, min(k.expires) as expires, min(k.email) as email,
  bool_or(coalesce(k.password_hash, '') <> '') as has_password, bool_or(k.upload = 1) as is_upload,
  count(distinct k.collection) > 1 as is_category
  from rs_external_access_keys k where coalesce(access_key, '') <> '' group by access_key order by access_key`;

function whyNot({ is_upload, is_category, expires }: KeyRow, today: string): Sentence | null {
  if (is_upload) return sentence('it invited to upload');
  if (is_category) return sentence('it showed a category with several collections');
  return expires !== null && expires.slice(0, 10) < today
    ? sentence('it expired on {day}', { day: expires })
    : null;
}

/** Returns the share keys that become no links, with the reason. */
export async function uncarriedKeys(staging: Staging, today: string): Promise<ReportEntry[]> {
  const keys = await staging.query<KeyRow>(allKeys);
  return keys.flatMap((key) => {
    const reason = whyNot(key, today);
    return reason === null ? [] : [{ kind: 'share key' as const, id: key.access_key, reason }];
  });
}

function targetOf(
  { ledger }: Context,
  { collection, resource }: KeyRow,
): { kind: 'asset' | 'collection'; id: string } | null {
  const found =
    collection === null ? ledger.find('resource', resource ?? 0) : ledger.find('collection', collection);
  return found === undefined
    ? null
    : { kind: collection === null ? 'asset' : 'collection', id: found.target };
}

/** Makes a new link for each share key that still works. The report alone has their addresses and new passwords. */
export async function importLinks(context: Context): Promise<void> {
  const { ledger, reporter, staging, today } = context;
  for (const key of await staging.query<KeyRow>(allKeys)) {
    if (context.isStopped()) return;
    if (ledger.find('link', key.access_key) !== undefined) continue;
    const reason = whyNot(key, today);
    const target = targetOf(context, key);
    if (reason !== null || target === null) {
      reporter.leaveOut('share key', key.access_key, reason ?? sentence('what it showed is not here'));
      continue;
    }
    await renewLink(context, 'share key', target, {
      oldKey: key.access_key,
      label: `ResourceSpace ${key.access_key}${key.email === null || key.email === '' ? '' : `, ${key.email}`}`,
      // The restricted view of the earlier system had no originals.
      allowDownload: key.access === 0,
      expiresAt: readColumnTime(key.expires),
      hasPassword: key.has_password,
    });
  }
}
