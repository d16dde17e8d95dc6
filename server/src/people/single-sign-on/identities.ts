import { linkIdentity, listIdentities, unlinkIdentity } from '@vitrine/contract/provider-sign-in';
import { handle } from '../../core/handle.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { findEnabledProvider, readProviders } from '../identity/provider-registry.ts';
import { checkCanSignIn, lockWaysToSignIn, waysToSignIn } from '../identity/ways-to-sign-in.ts';
import { SignInFailure } from './failure.ts';
import { redirectTo } from './start.ts';

export const identities = handle(listIdentities, async (deps, { caller }) => {
  const rows = await deps.db
    .selectFrom('user_identities')
    .select(['id', 'provider', 'username', 'email', 'created_at', 'last_used_at'])
    .where('user_ref', '=', caller.ref)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  const labels = new Map((await readProviders(deps)).map(({ name, settings }) => [name, settings.label]));
  const items = rows.map(({ username, email, ...row }) => ({
    ...row,
    label: labels.get(row.provider) ?? row.provider,
    ...(username === null ? {} : { username }),
    ...(email === null ? {} : { email }),
  }));
  return { status: 200, body: { items } };
});

/** SSO-16: the flow ends with the identity linked to the account of this session. */
export const link = handle(linkIdentity, async (deps, { caller, body, http }) => {
  const provider = await findEnabledProvider(deps, body.provider);
  if (provider === null || caller.sessionId === null) throw notFound();
  const begun = { purpose: 'link', userRef: caller.ref, sessionId: caller.sessionId } as const;
  try {
    const { url, cookie } = await redirectTo(deps, provider, http, begun);
    return { status: 200, body: { url }, scopedCookie: cookie };
  } catch (error) {
    if (!(error instanceof SignInFailure)) throw error;
    deps.log.error({ provider: provider.name, reason: error.message }, 'an identity cannot be linked');
    throw refuse('provider-unavailable');
  }
});

/** SSO-18: an account keeps a password, a directory, another identity or a passkey with which it can sign in now. */
export const unlink = handle(unlinkIdentity, async (deps, { caller, params }) => {
  const ways = await waysToSignIn(deps);
  await deps.db.transaction().execute(async (tx) => {
    await lockWaysToSignIn(tx, caller.ref);
    const removed = await tx
      .deleteFrom('user_identities')
      .where('id', '=', params.id)
      .where('user_ref', '=', caller.ref)
      .returning('provider')
      .executeTakeFirst();
    if (removed === undefined) throw notFound();
    await checkCanSignIn(tx, caller.ref, ways);
    await recordEvent(tx, caller, {
      event: 'user.identity.unlinked',
      subjectUserRef: caller.ref,
      metadata: { provider: removed.provider },
    });
  });
  return { status: 204 };
});
