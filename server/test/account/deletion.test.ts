import { expect, test } from 'vitest';
import { openMailbox } from '../mail/mailbox.ts';
import { auditEventsDuring } from '../support/audit.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { actAs, bearer, grant, nowhere, setEmail } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

const mailbox = await openMailbox();
const library = await openLibrary({
  VITRINE_SMTP_URL: mailbox.url,
  VITRINE_BASE_URL: 'https://library.example',
});
const root = await library.join('root', 'admin');
const clerk = await library.join('clerk');
await grant(library, clerk, 'users.write');

let made = 0;
async function newcomer() {
  made += 1;
  return library.join(`newcomer-${made}`);
}
const ask = (who: Account, note?: string) =>
  who.send('/account/deletion-request', { method: 'POST', body: note === undefined ? {} : { note } });
async function asked(who: Account): Promise<string> {
  await ask(who);
  return (await who.ok('getDeletionRequest')).id;
}
const decide = (by: Account, id: string, body: object) =>
  by.send(`/admin/deletion-requests/${id}/decide`, { method: 'POST', body });
const kindsOf = async (who: Account) => (await who.ok('listNotifications')).items.map(({ kind }) => kind);

// DELETION-1, DELETION-4
test('a member asks for deletion once, reads the request and withdraws it', async () => {
  const leaver = await newcomer();
  expect(await leaver.refused('getDeletionRequest')).toMatchObject({ status: 404 });
  const events = await auditEventsDuring(library, async () => {
    const first = await ask(leaver, ' I have left ');
    expect([first.status, JSON.parse(first.text)]).toMatchObject([
      201,
      { note: 'I have left', state: 'pending' },
    ]);
    const again = await ask(leaver, 'Another note');
    expect([again.status, JSON.parse(again.text)]).toEqual([200, JSON.parse(first.text)]);
    expect(await leaver.ok('getDeletionRequest')).toEqual(JSON.parse(first.text));
    await library.runJobs();
    for (const decider of [root, clerk]) expect(await kindsOf(decider)).toContain('deletion_requested');
    await leaver.ok('withdrawDeletionRequest');
  });
  expect(events.map(({ event }) => event)).toEqual([
    'user.deletion-request.created',
    'user.deletion-request.withdrawn',
  ]);
  expect(await leaver.refused('getDeletionRequest')).toMatchObject({ status: 404 });
  expect(await leaver.refused('withdrawDeletionRequest')).toMatchObject({ status: 404 });
  expect(await kindsOf(clerk)).not.toContain('deletion_requested');
});

// DELETION-1
test('a request needs a session of the member', async () => {
  const leaver = await newcomer();
  const token = await bearer(library, leaver, ['admin']);
  const mask = await actAs(library, root, leaver);
  for (const visitor of [token, mask])
    for (const method of ['POST', 'GET', 'DELETE'])
      expect(await visitor.status(method, '/account/deletion-request')).toBe(403);
});

// DELETION-2
test('holders of users.write list requests with what the account has', async () => {
  const leaver = await newcomer();
  await publish(leaver, [await upload(leaver, plainFile('left behind'))], { title: 'Left' });
  const id = await asked(leaver);
  expect(await leaver.refused('listDeletionRequests')).toMatchObject({ status: 403 });
  const { items } = await clerk.ok('listDeletionRequests', { query: { state: 'pending', limit: 1 } });
  expect(items).toMatchObject([
    { id, user_ref: leaver.ref, user: { username: leaver.username }, assets: 1, posts: 1 },
  ]);
});

// DELETION-3, DELETION-4
test('a refusal needs a reason that the member reads, and the member may ask again', async () => {
  const leaver = await newcomer();
  const id = await asked(leaver);
  expect((await decide(clerk, id, { decision: 'refuse', reason: ' ' })).status).toBe(400);
  expect((await decide(clerk, id, { decision: 'refuse', reason: 'Until March' })).status).toBe(200);
  expect((await decide(root, id, { decision: 'delete' })).status).toBe(409);
  expect(await leaver.ok('getDeletionRequest')).toMatchObject({
    state: 'refused',
    decision_reason: 'Until March',
  });
  await library.runJobs();
  expect(await kindsOf(leaver)).toEqual(['deletion_decided']);
  expect((await ask(leaver)).status).toBe(201);
  expect(await leaver.ok('getDeletionRequest')).toMatchObject({ state: 'pending' });
});

// DELETION-3, DELETION-4
test('a decision deletes or archives the account and mails its owner', async () => {
  const [gone, kept] = [await newcomer(), await newcomer()];
  await setEmail(library, gone, 'gone@example.org');
  await setEmail(library, kept, 'kept@example.org');
  const [first, second] = [await asked(gone), await asked(kept)];
  const events = await auditEventsDuring(library, async () => {
    const deleted = await decide(clerk, first, { decision: 'delete' });
    expect([deleted.status, JSON.parse(deleted.text)]).toMatchObject([
      200,
      { state: 'deleted', user_ref: gone.ref },
    ]);
    const archived = await decide(clerk, second, { decision: 'archive', reason: 'Contracts' });
    expect([archived.status, JSON.parse(archived.text)]).toMatchObject([200, { state: 'archived' }]);
  });
  // Events of one transaction have the same time.
  expect(events.map(({ event }) => event).toSorted()).toEqual([
    'user.deleted',
    'user.deletion-request.archived',
    'user.deletion-request.deleted',
    'user.status.changed',
  ]);
  expect(await gone.status('GET', '/auth/me')).toBe(401);
  expect(await kept.status('GET', '/auth/me')).toBe(401);
  expect((await decide(clerk, first, { decision: 'delete' })).status).toBe(404);
  const { items } = await root.ok('listDeletionRequests', { query: { state: 'archived' } });
  expect(items).toMatchObject([{ id: second, decision_reason: 'Contracts', decided_by_user_ref: clerk.ref }]);
  await library.runJobs();
  expect(mailbox.to('gone@example.org').map(({ subject }) => subject)).toEqual([
    expect.stringContaining('was deleted'),
  ]);
  expect(mailbox.to('kept@example.org').map(({ subject }) => subject)).toEqual([
    expect.stringContaining('was archived'),
  ]);
});

// DELETION-3
test('nobody decides their own request, or that of an account with more rights', async () => {
  const [own, above] = [await asked(clerk), await asked(root)];
  expect((await decide(clerk, own, { decision: 'delete' })).status).toBe(400);
  expect((await decide(clerk, above, { decision: 'archive' })).status).toBe(403);
  expect((await decide(clerk, nowhere, { decision: 'delete' })).status).toBe(404);
  const leaver = await newcomer();
  expect((await decide(leaver, own, { decision: 'delete' })).status).toBe(403);
});
