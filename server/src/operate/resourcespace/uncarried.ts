import type { ReportEntry } from '../imports/report.ts';
import type { Group, Installation, User } from './installation.ts';
import type { Staging } from './staging.ts';

/** Returns what of an account has no counterpart. */
export function uncarriedOfUser(user: User, { groups }: Pick<Installation, 'groups'>): string[] {
  const group = groups.get(user.group ?? 0);
  const addresses = user.ipRestrict ?? group?.ipRestrict ?? null;
  return [
    ...(addresses === null
      ? []
      : ['the addresses from which it may sign in; accounts have no such limit here']),
    ...(user.comments === null
      ? []
      : [`the administrators' comment: ${user.comments.replaceAll(/\s+/g, ' ')}`]),
  ];
}

/** Returns what of a group has no counterpart. */
export function uncarriedOfGroup({ hasCode, resourceDefaults }: Group): string[] {
  return [
    ...(hasCode ? ['its configuration is PHP code'] : []),
    ...(resourceDefaults === null ? [] : [`its defaults for new resources: ${resourceDefaults}`]),
  ];
}

/** Returns the comments on collections, which have no counterpart. */
export async function uncarriedComments(staging: Staging): Promise<ReportEntry[]> {
  const rows = await staging.query<{ ref: number; collection_ref: number | null; body: string | null }>(
    'select ref, collection_ref, body from rs_comment where coalesce(resource_ref, 0) <= 0 and collection_ref > 0 order by ref',
  );
  return rows.map(({ ref, collection_ref: collection, body }) => ({
    kind: 'comment',
    id: String(ref),
    reason: `is about collection ${collection}, and collections have no comments: ${(body ?? '').replaceAll(/\s+/g, ' ')}`,
  }));
}

/** Returns texts of pages, settings and preferences, without their values, which may be passwords. */
export async function uncarriedSettings(staging: Staging): Promise<ReportEntry[]> {
  const texts = await staging.query<{ page: string | null; name: string | null; language: string | null }>(
    `select page, name, language from rs_site_text where coalesce(text, '') <> '' order by page, name, language`,
  );
  const settings = await staging.query<{ parameter: string }>(
    'select distinct parameter from rs_user_preferences where "user" is null and parameter is not null order by parameter',
  );
  const preferences = await staging.query<{ user: number; parameters: string }>(
    `select "user", string_agg(distinct parameter, ', ' order by parameter) as parameters from rs_user_preferences
      where "user" is not null and parameter is not null group by "user" order by "user"`,
  );
  return [
    ...texts.map(({ page, name, language }) => ({
      kind: 'text',
      id: [page, name, language].filter((part) => (part ?? '') !== '').join('/'),
      reason: 'a text of its pages; Administration, Texts has those of this library',
    })),
    ...settings.map(({ parameter }) => ({
      kind: 'setting',
      id: parameter,
      reason: 'a setting of the installation; set it here if it is needed',
    })),
    ...preferences.map(({ user, parameters }) => ({
      kind: 'user',
      id: String(user),
      reason: `its preferences: ${parameters}`,
    })),
  ];
}
