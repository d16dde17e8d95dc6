import { unlockLink } from '@vitrine/contract/link-visits';
import { handle } from '../../core/handle.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { findLiveLink, unlockedCookie } from './visit.ts';

/** `POST /links/{token}/unlock`. A link without a password needs no cookie. */
export const unlock = handle(unlockLink, async (deps, { params, body, http }) => {
  const { link } = await findLiveLink(deps, params.token, http);
  if (link.password_hash === null) return { status: 204 };
  const { matches } = await deps.passwords.verify(link.id, body.password, link.password_hash);
  if (!matches) throw refuse('link-password-wrong');
  const cookie = unlockedCookie(deps.secretKey, params.token, link);
  return { status: 204, ...(cookie === null ? {} : { scopedCookie: cookie }) };
});
