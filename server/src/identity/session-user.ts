import { getMe, getSessionUser, type SessionUser } from '@vitrine/contract/identity';
import type { SignedIn } from '../access/caller.ts';
import { readSwitches } from '../admin/settings.ts';
import type { Database } from '../platform/database/pool.ts';
import { type Handler, handle } from '../platform/http/bind.ts';
import { refuse } from '../platform/http/refuse.ts';
import { readPreferences } from './preferences.ts';

/** spec 2.11: the session user, with every omission rule. */
export async function showSessionUser(db: Database, caller: SignedIn): Promise<SessionUser> {
  const user = await db
    .selectFrom('users')
    .select(['ref', 'username', 'fullname', 'email', 'preferences'])
    .where('ref', '=', caller.ref)
    .executeTakeFirst();
  if (user === undefined) throw refuse(401, 'sign in first');
  const { matureAllowed } = await readSwitches(db);
  const preferences = readPreferences(user.preferences);
  const rail = preferences.browse_rail;
  return {
    ref: user.ref,
    username: user.username,
    fullname: user.fullname,
    email: user.email,
    auth_method: caller.authMethod,
    language: preferences.language,
    theme: preferences.theme,
    default_views: preferences.default_views,
    ...(preferences.feed_filters.show_restricted ? { feed_filters: preferences.feed_filters } : {}),
    ...(Object.values(rail).some((list) => list.length > 0) ? { browse_rail: rail } : {}),
    ...(preferences.mature_content.show ? { mature_content: preferences.mature_content } : {}),
    mature_content_allowed: matureAllowed,
    ...(caller.capabilitiesStatus === 'resolved' ? { capabilities: [...caller.capabilities].sort() } : {}),
    capabilities_status: caller.capabilitiesStatus,
    impersonated_by: caller.impersonator,
  };
}

const me: Handler<typeof getSessionUser> = async ({ db }, { caller }) => ({
  status: 200,
  body: await showSessionUser(db, caller),
});

export const showCurrentUser = handle(getSessionUser, me);
export const showMe = handle(getMe, me);
