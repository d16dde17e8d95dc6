import { type AccountProfile, getAccountProfile } from '@vitrine/contract/users';
import { sql } from 'kysely';
import { avatarUrl } from '../../access/identities.ts';
import { handle } from '../../core/handle.ts';
import { refuse } from '../../platform/http/refuse.ts';

/** Returns the account in the form for editing it. */
export const showAccountProfile = handle(getAccountProfile, async ({ db }, { caller }) => {
  const { rows } = await sql<AccountProfile>`
    select ref, username, display_name, fullname, email, (
        select l.email from account_links l
        where l.user_ref = u.ref and l.purpose = 'verify_email' and l.expires_at > now()
          and l.email is distinct from u.email) as pending_email, bio, hide_from_anonymous, avatar_asset_id,
      ${avatarUrl('u')} as avatar_url, banner_asset_id, links, provider, created_at
    from users u where ref = ${caller.ref}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw refuse('sign-in-required');
  return { status: 200, body: row };
});
