import { getMe, getSessionUser, type SessionUser } from '@vitrine/contract/identity';
import type { SignedIn } from '../../access/caller.ts';
import { type Handler, handle } from '../../core/handle.ts';
import { readPreferences } from './preferences.ts';

/**
 * SESSION-9, SESSION-10: returns the session user from what was read with the credential, applying every omission rule.
 */
export function sessionUserOf(caller: SignedIn): SessionUser {
  const { fullname, email, preferences: stored, matureAllowed } = caller.account;
  const preferences = readPreferences(stored);
  const rail = preferences.browse_rail;
  return {
    ref: caller.ref,
    username: caller.username,
    fullname,
    email,
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
    ...(caller.requiredStep === undefined ? {} : { required_step: caller.requiredStep }),
  };
}

const me: Handler<typeof getSessionUser> = async (_, { caller }) => ({
  status: 200,
  body: sessionUserOf(caller),
});

export const showCurrentUser = handle(getSessionUser, me);
export const showMe = handle(getMe, me);
