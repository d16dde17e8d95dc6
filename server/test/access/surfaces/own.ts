import { randomUUID } from 'node:crypto';
import { type About, aboutPortion } from '../described-world.ts';
import { readsPost } from '../due.ts';
import { accountDoor, adminDoor, labelOfPost, refusalOf, together } from '../send-requests.ts';
import type { Caller } from '../world.ts';

/** Private settings of an account: searches, views and watched objects. Those of others do not exist for it. */

/** The object of the caller and a sample of those of others, by the ref of their account. */
const sampleOf = ({ ref: own }: Caller, ids: ReadonlyMap<number, string>) =>
  [...ids].filter(([ref]) => (ref + (own ?? 0)) % 23 === 0 || ref === own);

/** The status of what needs a session of the account itself; null if the caller has one. */
const refusalWithoutSession = ({ kind, scopes, name }: Caller): 401 | 403 | null => {
  if (kind === 'anonymous') return 401;
  return scopes !== null || name.startsWith('impersonator') ? 403 : null;
};

type Kept = readonly { path: string; ids: ReadonlyMap<number, string> }[];

/** Creates one of each for every account. */
export async function addKept({ world, callers }: About): Promise<Kept> {
  const { db } = world.library.deps;
  const refs = [...new Set(callers.flatMap(({ ref }) => ref ?? []))];
  const keep = () => new Map(refs.map((ref) => [ref, randomUUID()]));
  const kept = [
    { path: '/account/searches', ids: keep() },
    { path: '/account/views', ids: keep() },
  ] as const;
  const [searches, views] = kept;
  const rows = (ids: ReadonlyMap<number, string>) =>
    [...ids].map(([user_ref, id]) => ({
      id,
      user_ref,
      name: 'kept',
      query: JSON.stringify({ q: 'quokka' }),
    }));
  await db.insertInto('saved_searches').values(rows(searches.ids)).execute();
  await db
    .insertInto('feed_views')
    .values(rows(views.ids).map((row) => ({ ...row, position: 0 })))
    .execute();
  return kept;
}

export async function lookAtKept({ ledger, callers }: About, kept: Kept) {
  await together(callers, async (caller) => {
    for (const { path, ids } of kept) {
      const { status, text } = await caller.visitor.send(path);
      const refusal = refusalOf(caller, accountDoor);
      ledger.hold(`${caller.name}: ${path}: status`, status, refusal ?? 200);
      if (status === 200) {
        const answer: { id: string }[] | { items: { id: string }[] } = JSON.parse(text);
        const items = Array.isArray(answer) ? answer : answer.items;
        ledger.hold(`${caller.name}: ${path}`, items.map(({ id }) => id).join(), ids.get(caller.ref ?? 0));
      }
      const locked = refusalOf(caller, adminDoor);
      for (const [ref, id] of sampleOf(caller, ids)) {
        const isMine = ref === caller.ref;
        const put = await caller.visitor.send(`${path}/${id}`, { method: 'PATCH', body: {} });
        ledger.hold(`${caller.name}: PATCH ${path} of ${ref}`, put.status, locked ?? (isMine ? 200 : 404));
        if (isMine) continue;
        const gone = await caller.visitor.send(`${path}/${id}`, { method: 'DELETE' });
        ledger.hold(`${caller.name}: DELETE ${path} of ${ref}`, gone.status, locked ?? 404);
      }
    }
  });
}

/** PASSKEY-8: the passkeys of others do not exist for an account; only sessions of its owner change them. */
export async function lookAtPasskeys({ world, ledger, callers }: About) {
  const refs = [...new Set(callers.flatMap(({ ref }) => ref ?? []))];
  const ids = new Map(refs.map((ref) => [ref, randomUUID()]));
  const rows = [...ids].map(([user_ref, id]) => ({
    id,
    user_ref,
    name: 'kept',
    credential_id: Buffer.from(id),
    public_key: Buffer.from('key'),
    user_handle: Buffer.from('handle'),
    counter: 0,
    multi_device: false,
    backed_up: false,
  }));
  await world.library.deps.db.insertInto('passkeys').values(rows).execute();
  await together(callers, async (caller) => {
    const { status, text } = await caller.visitor.send('/account/passkeys');
    const refusal = refusalOf(caller, accountDoor);
    ledger.hold(`${caller.name}: passkeys: status`, status, refusal ?? 200);
    if (status === 200) {
      const { items }: { items: { id: string }[] } = JSON.parse(text);
      ledger.hold(`${caller.name}: passkeys`, items.map(({ id }) => id).join(), ids.get(caller.ref ?? 0));
    }
    const locked = refusalWithoutSession(caller);
    for (const [ref, id] of sampleOf(caller, ids)) {
      const isMine = ref === caller.ref;
      const path = `/account/passkeys/${id}`;
      const cell = `${caller.name}: passkey of ${ref}`;
      const [got, changed] = [
        await caller.visitor.send(path),
        await caller.visitor.send(path, { method: 'PATCH', body: {} }),
      ];
      ledger.hold(`${cell}: GET`, got.status, refusal ?? (isMine ? 200 : 404));
      ledger.hold(`${cell}: PATCH`, changed.status, locked ?? (isMine ? 200 : 404));
      if (isMine) continue;
      const removed = await caller.visitor.send(path, { method: 'DELETE' });
      ledger.hold(`${cell}: DELETE`, removed.status, locked ?? 404);
    }
  });
}

/** EXPORT-18, DELETION-1, DELETION-2: exports and requests to delete an account are for sessions of their account. */
export async function lookAtOwnData({ world, ledger, callers }: About) {
  const { db } = world.library.deps;
  const refs = [...new Set(callers.flatMap(({ ref }) => ref ?? []))];
  const ids = new Map(refs.map((ref) => [ref, randomUUID()]));
  const rows = [...ids].map(([user_ref, id]) => ({ id, user_ref }));
  await db
    .insertInto('account_exports')
    .values(rows.map((row) => ({ ...row, state: 'failed', reason: 'of the matrix' })))
    .execute();
  await db.insertInto('deletion_requests').values(rows).execute();
  await together(callers, async (caller) => {
    const locked = refusalWithoutSession(caller);
    const mine = ids.get(caller.ref ?? 0);
    for (const path of ['/account/export', '/account/deletion-request']) {
      const { status, text } = await caller.visitor.send(path);
      ledger.hold(`${caller.name}: ${path}: status`, status, locked ?? 200);
      if (status !== 200) continue;
      const { id, job_id }: { id?: string; job_id?: string } = JSON.parse(text);
      ledger.hold(`${caller.name}: ${path}`, id ?? job_id, mine);
    }
    const administers = caller.kind === 'system.admin';
    for (const [ref, id] of sampleOf(caller, ids)) {
      const file = await caller.visitor.status('GET', `/account/export/${id}`);
      ledger.hold(`${caller.name}: the file of ${ref}`, file, locked ?? 404);
      const job = await caller.visitor.status('GET', `/jobs/${id}`);
      const due = administers || id === mine ? 200 : 404;
      ledger.hold(`${caller.name}: the job of ${ref}`, job, refusalOf(caller, accountDoor) ?? due);
    }
    const listed = await caller.visitor.status('GET', '/admin/deletion-requests');
    const refusal = refusalOf(caller, accountDoor);
    ledger.hold(`${caller.name}: requests to delete`, listed, refusal ?? (administers ? 200 : 403));
    // A refusal without a reason is refused to callers who may decide, so that the probe decides nothing.
    const path = `/admin/deletion-requests/${randomUUID()}/decide`;
    const decided = await caller.visitor.status('POST', path, { decision: 'refuse' });
    const mayDecide = administers && !caller.name.startsWith('impersonator');
    ledger.hold(
      `${caller.name}: decide a request to delete`,
      decided,
      refusalOf(caller, adminDoor) ?? (mayDecide ? 400 : 403),
    );
  });
  await db.deleteFrom('account_exports').execute();
  await db.deleteFrom('deletion_requests').execute();
}

export async function lookAtWatches({ world, ledger, callers }: About) {
  await together(callers, async (caller) => {
    for (const [turn, post] of aboutPortion(caller, world.sample).entries()) {
      const due = readsPost(caller.kind, post) ? 200 : 404;
      const probes = [
        ['GET', accountDoor],
        ['PUT', adminDoor],
        ['DELETE', adminDoor],
      ] as const;
      for (const [method, door] of probes.filter((_, index) => index === turn % 3)) {
        const { status } = await caller.visitor.send(`/posts/${post.id}/watch`, { method });
        const wanted = refusalOf(caller, door) ?? due;
        ledger.hold(`${caller.name}: ${method} watch of ${labelOfPost(post)}`, status, wanted);
      }
    }
  });
}
