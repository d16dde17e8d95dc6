import { nameGuest } from '@vitrine/contract/guests';
import { basePath } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { takesGuests } from '../../access/guests.ts';
import { handle } from '../../core/handle.ts';
import { randomToken } from '../../people/identity/access-tokens.ts';
import { hashToken } from '../../people/identity/sessions.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { lockGuest, lockTerms } from './guest-writes.ts';
import { visitLink } from './visit.ts';

/** GUEST-3: how long a browser keeps the name. */
const KEPT_SECONDS = 180 * 86_400;

/** A generous limit that keeps visitors from filling the table. */
const MOST_GUESTS = 1000;

/** `POST /links/{token}/guest`: a new guest, or the new name of the one whose cookie the browser has. */
export const name = handle(nameGuest, async (deps, { params, body, http }) => {
  const { visitor } = await visitLink(deps, params.token, http);
  const given = body.name.trim();
  const former = visitor.guest === null ? null : http.cookie(nameGuest.cookie);
  const token = former ?? randomToken();
  const guest = await deps.db.transaction().execute(async (tx) => {
    await lockTerms(tx, visitor, takesGuests, 'link-without-guests');
    if (former !== null) {
      const { id } = await lockGuest(tx, visitor);
      await tx.updateTable('link_guests').set({ name: given }).where('id', '=', id).execute();
      return { id, name: given };
    }
    const { rows } = await sql<{ id: string; name: string }>`
      insert into link_guests as g (link_id, token_hash, name)
      select ${visitor.linkId}::uuid, ${hashToken(token)}::bytea, ${given}
      where (select count(*) from link_guests where link_id = ${visitor.linkId}) < ${MOST_GUESTS}
      returning g.id, g.name`.execute(tx);
    const row = rows[0];
    if (row === undefined) throw refuse('too-many-guests', { max: MOST_GUESTS });
    return row;
  });
  return {
    status: 200,
    body: guest,
    scopedCookie: {
      name: nameGuest.cookie,
      value: token,
      path: `${basePath}/links/${params.token}`,
      maxAgeSeconds: KEPT_SECONDS,
    },
  };
});
