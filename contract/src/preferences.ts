import { type Static, Type } from 'typebox';
import { DefaultViews } from './identity.ts';
import { operation } from './operation.ts';
import { closed, nullable, Uuid } from './values.ts';

const TeamIds = Type.Array(Uuid, { maxItems: 200 });
const TagNames = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 200 });

/** A BCP 47 tag; empty for the language of the browser (PREFERENCE-4). */
export const Language = Type.String({ maxLength: 35, pattern: '^([A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*)?$' });
const Theme = Type.Enum(['', 'light', 'dark', 'system']);
export const FeedFilters = closed({ show_restricted: Type.Boolean() });
export const BrowseRail = closed({
  hidden_team_ids: TeamIds,
  team_order: TeamIds,
  hidden_tags: TagNames,
  tag_order: TagNames,
});
export const MatureContentChoice = closed({ show: Type.Boolean() });

/** All preferences of an account, with defaults for those it has not set (PREFERENCE-1). */
export const Preferences = closed({
  default_views: DefaultViews,
  feed_filters: FeedFilters,
  browse_rail: BrowseRail,
  mature_content: MatureContentChoice,
  language: Language,
  theme: Theme,
});
export type Preferences = Static<typeof Preferences>;

export const getPreferences = operation({
  id: 'getPreferences',
  method: 'GET',
  path: '/account/preferences',
  tag: 'Account',
  summary: 'Get own preferences',
  description:
    'Returns all preferences of the account, with defaults for those it has not set. During an impersonation these are the target’s preferences.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: Preferences },
  errors: [],
});

export const updatePreferences = operation({
  id: 'updatePreferences',
  method: 'PATCH',
  path: '/account/preferences',
  tag: 'Account',
  summary: 'Change own preferences',
  description: 'Each object in the body replaces the stored object, so all its properties are required.',
  door: 'signedIn',
  scope: 'admin',
  body: closed({
    default_views: Type.Optional(nullable(DefaultViews)),
    feed_filters: Type.Optional(nullable(FeedFilters)),
    browse_rail: Type.Optional(nullable(BrowseRail)),
    mature_content: Type.Optional(nullable(MatureContentChoice)),
    language: Type.Optional(nullable(Language)),
    theme: Type.Optional(nullable(Theme)),
  }),
  seenBy: 'caller',
  responses: { 200: Preferences },
  errors: [],
});
