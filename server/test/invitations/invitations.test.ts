import { createHash } from 'node:crypto';
import type { BodyOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { openMailbox } from '../mail/mailbox.ts';
import { auditEvents } from '../support/audit.ts';
import { visit } from '../support/client.ts';
import { type Account, openLibrary, password } from '../support/library.ts';
import { grant, nowhere, setRole, setStatus, signIn, withdrawGrants } from '../support/people.ts';
import { addTeam } from '../support/teams.ts';

const mailbox = await openMailbox();
const baseUrl = 'https://media.example';
const library = await openLibrary({ VITRINE_SMTP_URL: mailbox.url, VITRINE_BASE_URL: baseUrl });
const { db } = library.deps;
const root = await library.join('root', 'admin');
const [inviter, member] = await library.joinAll('inviter', 'member');
await grant(library, inviter, 'users.write');

type Wanted = BodyOf<Operations['createInvitation']>;
type Accepted = BodyOf<Operations['acceptInvitation']>;

const later = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const tokenIn = (text: string) => /\/invite\/([A-Za-z0-9]{32})\b/.exec(text)?.[1] ?? '';
const gone = { status: 404, error: 'not found' };

async function invite(body: Wanted = {}, who: Account = root) {
  const made = await who.ok('createInvitation', { body });
  return { ...made, token: tokenIn(made.url) };
}

let count = 0;
const newPerson = (more: Partial<Accepted> = {}): Accepted => {
  count += 1;
  return { username: `guest-${count}`, password, ...more };
};

/** Accepts an invitation in a new browser, which is then signed in. */
async function accept(token: string, body = newPerson()) {
  const browser = visit(library.address);
  const user = await browser.ok('acceptInvitation', { params: { token }, body });
  return { browser, user };
}

const refusedOf = (token: string, body = newPerson()) =>
  library.anonymous().refused('acceptInvitation', { params: { token }, body });
const shown = (token: string) => library.anonymous().send(`/invitations/${token}`);
const stateOf = async (id: string) =>
  (await root.ok('listInvitations')).items.find((item) => item.id === id)?.state;

async function accountOf(ref: number) {
  return db
    .selectFrom('users as u')
    .innerJoin('roles as r', 'r.id', 'u.role_id')
    .select(['r.code as role', 'u.email', 'u.email_confirmed_at', 'u.fullname'])
    .where('u.ref', '=', ref)
    .executeTakeFirstOrThrow();
}

beforeEach(() => mailbox.empty());

describe('an invitation', () => {
  // INVITE-1, INVITE-2, INVITE-7
  test('makes one member within seven days unless it says otherwise, and signs them in', async () => {
    const made = await invite();
    expect(made).toMatchObject({
      email: null,
      role: 'member',
      team_ids: [],
      state: 'open',
      uses: 0,
      max_uses: 1,
      mailed: false,
      created_by: { ref: root.ref },
      url: `${baseUrl}/invite/${made.token}`,
    });
    const days = (Date.parse(made.expires_at) - Date.now()) / 86_400_000;
    expect(Math.round(days * 100) / 100).toBe(7);
    const welcome = await library.anonymous().ok('getInvitation', { params: { token: made.token } });
    expect(welcome).toEqual({ site_name: 'Vitrine', role: 'member', invited_by: 'root' });
    const { browser, user } = await accept(made.token, newPerson({ fullname: 'Nina Holm' }));
    expect(user).toMatchObject({ fullname: 'Nina Holm', email: null });
    expect((await browser.ok('getMe')).ref).toBe(user.ref);
    expect((await signIn(library, user.username)).status).toBe(200);
    expect([await stateOf(made.id), await refusedOf(made.token)]).toEqual(['used', gone]);
    expect(await auditEvents(library, { event: 'invitation.accepted' })).toMatchObject([
      { actor_user_ref: user.ref, metadata: { invitation: made.id, role: 'member', invited_by: root.ref } },
    ]);
  });

  // INVITE-4
  test('shows its address once; the database has the token as SHA-256 only', async () => {
    const made = await invite({ email: 'once@studio.example' });
    const { rows: queued } = await sql<{ text: string }>`
      select string_agg(j.payload::text, ' ') as text from graphile_worker._private_jobs j`.execute(db);
    await library.runJobs();
    const mailed = tokenIn(mailbox.to('once@studio.example')[0]?.text ?? '');
    const { rows } = await sql<{ text: string }>`select row_to_json(i)::text || (
      select string_agg(e.metadata::text, '') from audit_events e) as text
      from invitations i where i.id = ${made.id}`.execute(db);
    const listed = JSON.stringify(await root.ok('listInvitations'));
    for (const token of [made.token, mailed]) {
      expect(token).toMatch(/^[A-Za-z0-9]{32}$/);
      for (const text of [rows[0]?.text, listed, queued[0]?.text]) expect(text).not.toContain(token);
      expect(rows[0]?.text).toContain(createHash('sha256').update(token).digest('hex'));
    }
    expect(mailed).not.toBe(made.token);
  });

  // INVITE-2
  test('is refused with an expiry in the past or after 90 days', async () => {
    const statusFor = async (expires_at: string) => root.status('POST', '/admin/invitations', { expires_at });
    const given = [later(-1), later(91), later(89)];
    expect(await Promise.all(given.map(statusFor))).toEqual([400, 400, 201]);
  });

  // INVITE-1
  test('may be used as often as it says', async () => {
    const { id, token } = await invite({ max_uses: 2 });
    await accept(token);
    expect(await stateOf(id)).toBe('open');
    await accept(token);
    expect([await stateOf(id), await refusedOf(token)]).toEqual(['used', gone]);
  });

  // INVITE-7
  test('makes one account when it is accepted many times at once', async () => {
    const { id, token } = await invite();
    const statuses = await Promise.all(
      Array.from({ length: 6 }, () =>
        library.anonymous().status('POST', `/invitations/${token}/accept`, newPerson()),
      ),
    );
    expect(statuses.sort()).toEqual([201, 404, 404, 404, 404, 404]);
    const { rows } = await sql`select from audit_events where event = 'user.created'
      and metadata->>'invitation' = ${id}`.execute(db);
    expect(rows.length).toBe(1);
  });

  // INVITE-3
  test('is the same 404 when unknown, used, expired or revoked', async () => {
    const [used, expired, revoked] = [await invite(), await invite(), await invite()];
    await accept(used.token);
    await sql`update invitations set expires_at = now() where id = ${expired.id}`.execute(db);
    await root.ok('revokeInvitation', { params: { id: revoked.id } });
    await root.ok('revokeInvitation', { params: { id: revoked.id } });
    const unknown = 'a'.repeat(32);
    for (const token of [used.token, expired.token, revoked.token, unknown, 'short']) {
      const answer = await shown(token);
      expect([token, answer.status, answer.text]).toEqual([token, 404, '{"error":"not found"}']);
      expect([token, await refusedOf(token)]).toEqual([token, gone]);
    }
    const states = await Promise.all([used, expired, revoked].map(({ id }) => stateOf(id)));
    expect(states).toEqual(['used', 'expired', 'revoked']);
  });

  // INVITE-7
  test('is not used up by a taken name or a caller who is signed in', async () => {
    const { id, token } = await invite();
    expect(await refusedOf(token, newPerson({ username: 'ROOT' }))).toMatchObject({ status: 409 });
    expect(await member.refused('acceptInvitation', { params: { token }, body: newPerson() })).toEqual({
      status: 409,
      error: 'sign out first',
    });
    expect(await stateOf(id)).toBe('open');
    await accept(token);
  });

  // INVITE-8
  test('confirms its own e-mail in any spelling, and no other', async () => {
    const { token } = await invite({ email: 'Nina@Studio.example', max_uses: 3 });
    const own = await accept(token);
    const spelled = await accept(token, newPerson({ email: 'nina@studio.EXAMPLE' }));
    const other = await accept(token, newPerson({ email: 'nina@home.example' }));
    const facts = await Promise.all([own, spelled, other].map(({ user }) => accountOf(user.ref)));
    expect(facts.map(({ email, email_confirmed_at }) => [email, email_confirmed_at !== null])).toEqual([
      ['Nina@Studio.example', true],
      ['nina@studio.EXAMPLE', true],
      ['nina@home.example', false],
    ]);
    // Any other address stays unconfirmed, also one that an administrator sets.
    await root.ok('updateUser', { params: { ref: own.user.ref }, body: { email: 'x@y.example' } });
    expect((await accountOf(own.user.ref)).email_confirmed_at).toBeNull();
  });
});

describe('roles and teams', () => {
  // INVITE-6
  test('cannot give what the inviter may not give', async () => {
    const team = await addTeam(library, 'closed');
    const as = (body: Wanted) => inviter.refused('createInvitation', { body });
    expect(await as({ role: 'admin' })).toMatchObject({ status: 403 });
    expect(await as({ role: 'viewer', team_ids: [team] })).toMatchObject({ status: 403 });
    expect(await as({ role: 'nobody' })).toMatchObject({ status: 404, error: 'role not found' });
    expect(await as({ team_ids: [nowhere] })).toMatchObject({ status: 404, error: 'team not found' });
    expect((await member.refused('createInvitation', { body: {} })).status).toBe(403);
  });

  // INVITE-7
  test('are those of the invitation, as if a person had given them', async () => {
    const [team, dissolved] = [
      await addTeam(library, 'editors', [member]),
      await addTeam(library, 'dissolved'),
    ];
    const { token } = await invite({ role: 'viewer', team_ids: [team, dissolved] });
    await root.ok('deleteTeam', { params: { id: dissolved } });
    const { user, browser } = await accept(token);
    expect(await accountOf(user.ref)).toMatchObject({ role: 'viewer' });
    const teams = await db
      .selectFrom('team_members')
      .select(['team_id', 'provider'])
      .where('user_ref', '=', user.ref)
      .execute();
    expect(teams).toEqual([{ team_id: team, provider: null }]);
    // TEAM-9: the members are told of the new one, who is told, too.
    await library.runJobs();
    for (const who of [member, browser]) {
      const { items } = await who.ok('listNotifications');
      const told = { kind: 'team_member_added', actor: { ref: root.ref }, member: { ref: user.ref } };
      expect(items).toMatchObject([{ ...told, team: { id: team } }]);
    }
  });

  // INVITE-6
  test('end the invitation when its creator may no longer give its role, until another sends it', async () => {
    const chief = await library.join('chief', 'admin');
    const made = await invite({ role: 'admin' }, chief);
    const losses: [string, () => Promise<void>, () => Promise<void>][] = [
      ['demoted', () => setRole(library, chief, 'member'), () => setRole(library, chief, 'admin')],
      ['disabled', () => setStatus(library, chief, 'disabled'), () => setStatus(library, chief, 'active')],
      [
        'without the role',
        async () => {
          await setRole(library, chief, 'member');
          await grant(library, chief, 'users.write');
        },
        async () => {
          await withdrawGrants(library, chief);
          await setRole(library, chief, 'admin');
        },
      ],
    ];
    for (const [loss, lose, regain] of losses) {
      await lose();
      expect([loss, (await shown(made.token)).status]).toEqual([loss, 404]);
      expect([loss, await refusedOf(made.token)]).toEqual([loss, gone]);
      await regain();
      expect([loss, (await shown(made.token)).status]).toEqual([loss, 200]);
    }
    await root.ok('deleteUser', { params: { ref: chief.ref } });
    expect([await stateOf(made.id), await refusedOf(made.token)]).toEqual(['revoked', gone]);
    const resend = { params: { id: made.id } };
    expect((await inviter.refused('resendInvitation', resend)).status).toBe(403);
    const { url } = await root.ok('resendInvitation', resend);
    const { user } = await accept(tokenIn(url));
    expect((await accountOf(user.ref)).role).toBe('admin');
  });
});

describe('sending', () => {
  /** Lets eight days pass for an invitation. */
  const age = (id: string) =>
    sql`update invitations set created_at = created_at - interval '8 days', opened_at = opened_at - interval '8 days',
      expires_at = expires_at - interval '8 days' where id = ${id}`.execute(db);

  // INVITE-4
  test('mails an address of its own, with the message', async () => {
    const made = await invite({ email: 'nina@studio.example', message: 'Welcome\n<b>aboard</b>' });
    expect(made.mailed).toBe(true);
    await library.runJobs();
    const [mail] = mailbox.to('nina@studio.example');
    expect(mail?.subject).toBe('root invites you to Vitrine');
    expect(mail?.text).toContain('> <b>aboard</b>');
    expect(mail?.html).toContain('&lt;b&gt;aboard&lt;/b&gt;');
    const token = tokenIn(mail?.text ?? '');
    expect(mail?.text).toContain(`${baseUrl}/invite/${token}`);
    const { user } = await accept(token);
    expect(user.email).toBe('nina@studio.example');
    expect(await refusedOf(made.token)).toEqual(gone);
  });

  // INVITE-5
  test('again replaces both addresses, and opens an expired invitation for as long as before', async () => {
    const made = await invite({ email: 'ole@studio.example' });
    await library.runJobs();
    const former = [made.token, tokenIn(mailbox.to('ole@studio.example')[0]?.text ?? '')];
    mailbox.empty();
    await age(made.id);
    const again = await root.ok('resendInvitation', { params: { id: made.id } });
    expect(again).toMatchObject({ id: made.id, state: 'open', mailed: true });
    expect(Math.round((Date.parse(again.expires_at) - Date.now()) / 86_400_000)).toBe(7);
    await library.runJobs();
    const mailed = tokenIn(mailbox.to('ole@studio.example')[0]?.text ?? '');
    const statuses = await Promise.all(
      [...former, tokenIn(again.url), mailed].map(async (token) => (await shown(token)).status),
    );
    expect(statuses).toEqual([404, 404, 200, 200]);
    await root.ok('revokeInvitation', { params: { id: made.id } });
    const over = { status: 409, error: 'that invitation is used up or revoked' };
    expect(await root.refused('resendInvitation', { params: { id: made.id } })).toEqual(over);
    expect((await root.refused('resendInvitation', { params: { id: nowhere } })).status).toBe(404);
  });

  // INVITE-5
  test('again and again opens an expired invitation as long each time', async () => {
    const { id } = await invite();
    const days: number[] = [];
    for (let times = 0; times < 3; times += 1) {
      await age(id);
      const { expires_at } = await root.ok('resendInvitation', { params: { id } });
      days.push(Math.round((Date.parse(expires_at) - Date.now()) / 86_400_000));
    }
    expect(days).toEqual([7, 7, 7]);
  });

  // INVITE-5
  test('does not happen for an invitation that was revoked meanwhile', async () => {
    const { id } = await invite({ email: 'late@studio.example' });
    await root.ok('revokeInvitation', { params: { id } });
    await library.runJobs();
    expect(mailbox.mails).toEqual([]);
  });

  // INVITE-4
  test('never builds addresses from the host of a request', async () => {
    const answer = await root.send('/admin/invitations', {
      method: 'POST',
      body: { email: 'host@studio.example' },
      headers: { 'x-forwarded-host': 'evil.example' },
    });
    await library.runJobs();
    expect(answer.status).toBe(201);
    expect(answer.text + (mailbox.mails[0]?.text ?? '')).not.toContain('evil');
  });

  // INVITE-4, USER-8
  test('shows e-mails of others to holders of users.pii.read only', async () => {
    const [own, other] = [
      await invite({ email: 'a@b.example' }, inviter),
      await invite({ email: 'c@d.example' }),
    ];
    const seen = async () => {
      const { items } = await inviter.ok('listInvitations');
      return [own, other].map(({ id }) => items.find((item) => item.id === id)?.email);
    };
    expect(await seen()).toEqual(['a@b.example', undefined]);
    await grant(library, inviter, 'users.pii.read');
    expect(await seen()).toEqual(['a@b.example', 'c@d.example']);
  });
});
