import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import type { ReportEntry } from '../imports/report.ts';
import type { Group, Installation, User } from './installation.ts';
import type { Staging } from './staging.ts';

/** Returns what of an account has no counterpart. */
export function uncarriedOfUser(user: User, { groups }: Pick<Installation, 'groups'>): Sentence[] {
  const group = groups.get(user.group ?? 0);
  const addresses = user.ipRestrict ?? group?.ipRestrict ?? null;
  return [
    ...(addresses === null
      ? []
      : [sentence('the addresses from which it may sign in; accounts have no such limit here')]),
    ...(user.comments === null
      ? []
      : [
          sentence('the administrators’ comment: {comment}', {
            comment: user.comments.replaceAll(/\s+/g, ' '),
          }),
        ]),
  ];
}

/** Returns what of a group has no counterpart. */
export function uncarriedOfGroup({ hasCode, resourceDefaults }: Group): Sentence[] {
  return [
    ...(hasCode ? [sentence('its configuration is PHP code')] : []),
    ...(resourceDefaults === null
      ? []
      : [sentence('its defaults for new resources: {defaults}', { defaults: resourceDefaults })]),
  ];
}

/** Returns the comments on collections, which have no counterpart. */
export async function uncarriedComments(staging: Staging): Promise<ReportEntry[]> {
  const rows = await staging.query<{ ref: number; collection_ref: number | null; body: string | null }>(
    'select ref, collection_ref, body from rs_comment where coalesce(resource_ref, 0) <= 0 and collection_ref > 0 order by ref',
  );
  return rows.map(({ ref, collection_ref: collection, body }) => ({
    kind: 'comment' as const,
    id: String(ref),
    reason: sentence('is about collection {collection}, and collections have no comments: {comment}', {
      collection: String(collection),
      comment: (body ?? '').replaceAll(/\s+/g, ' '),
    }),
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
      kind: 'text' as const,
      id: [page, name, language].filter((part) => (part ?? '') !== '').join('/'),
      reason: sentence('a text of its pages; Administration, Texts has those of this library'),
    })),
    ...settings.map(({ parameter }) => ({
      kind: 'setting' as const,
      id: parameter,
      reason: sentence('a setting of the installation; set it here if it is needed'),
    })),
    ...preferences.map(({ user, parameters }) => ({
      kind: 'user' as const,
      id: String(user),
      reason: sentence('its preferences: {settings}', { settings: parameters }),
    })),
  ];
}
