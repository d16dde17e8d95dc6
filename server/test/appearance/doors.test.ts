import { beforeAll, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Library, openLibrary } from '../support/library.ts';
import { type CallerOutcome, callersBefore, outcomeOf } from './callers.ts';
import { hashesOf, type Logo, newLogo, useBytes } from './logos.ts';

const capability = 'system.appearance.write';

let library: Library;
let outcomes: CallerOutcome[];
let holder: Visitor;
let logo: Logo;
let earlier: Logo;

beforeAll(async () => {
  library = await openLibrary();
  outcomes = await callersBefore(library, capability);
  holder = visitorOf('a holder');
  [logo, earlier] = await Promise.all([newLogo(), newLogo()]);
  await useBytes(holder, earlier.bytes);
  await useBytes(holder, logo.bytes);
});

function visitorOf(who: string): Visitor {
  const found = outcomes.find((outcome) => outcome.who === who);
  if (found === undefined) throw new Error(`nobody is ${who}`);
  return found.visitor;
}

async function state() {
  const events = await library.deps.db.selectFrom('audit_events').select('id').execute();
  return { appearance: await holder.ok('getAdminAppearance'), events: events.length };
}

const writes: [name: string, (visitor: Visitor) => Promise<unknown>][] = [
  [
    'PATCH /admin/system/appearance',
    (visitor) => visitor.ok('updateAppearance', { body: { body_font: 'inter' } }),
  ],
  ['POST /admin/system/appearance/logo', (visitor) => useBytes(visitor, logo.bytes)],
  [
    'POST /admin/system/appearance/logo/select',
    (visitor) => visitor.ok('selectLogo', { body: { hash: earlier.hash } }),
  ],
  ['DELETE /admin/system/appearance/logo', (visitor) => visitor.ok('revertLogo')],
];

describe.each([false, true])('with public mode on: %s', (publicMode) => {
  beforeAll(() => library.setPublicMode(publicMode));

  // APPEARANCE-2
  test(`GET /admin/system/appearance is for holders of ${capability}`, async () => {
    for (const { who, visitor, reading } of outcomes) {
      expect([who, await outcomeOf(visitor.ok('getAdminAppearance'))]).toEqual([who, reading]);
    }
  });

  test.each(writes)(`%s is for holders of ${capability}, and changes nothing for others`, async (_, act) => {
    const before = await state();
    for (const { who, visitor, writing } of outcomes.filter((one) => one.writing !== 'let in')) {
      expect([who, await outcomeOf(act(visitor))]).toEqual([who, writing]);
    }
    expect(await state()).toEqual(before);
    for (const { who, visitor } of outcomes.filter((one) => one.writing === 'let in')) {
      expect([who, await outcomeOf(act(visitor))]).toEqual([who, 'let in']);
    }
    expect(hashesOf(await holder.ok('getAdminAppearance'))).toHaveLength(2);
  });

  test('does not reveal to others whether a logo is known', async () => {
    const member = visitorOf('a member');
    const answers = await Promise.all(
      [logo.hash, '0'.repeat(64), 'no hash'].map((hash) => member.refused('selectLogo', { body: { hash } })),
    );
    expect(new Set(answers.map(({ status, error }) => `${status} ${error}`))).toEqual(
      new Set([`403 missing capability ${capability}`]),
    );
  });
});

test('names an impersonating administrator in the audit event', async () => {
  const admin = await library.deps.db
    .selectFrom('users')
    .select('ref')
    .where('username', 'like', 'admin-%')
    .executeTakeFirstOrThrow();
  await useBytes(visitorOf('an administrator as a holder'), logo.bytes);
  const event = await library.deps.db
    .selectFrom('audit_events')
    .select(['event', 'impersonator_user_ref', 'metadata'])
    .orderBy('occurred_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  expect(event).toMatchObject({
    event: 'appearance.logo.changed',
    impersonator_user_ref: admin.ref,
    metadata: { hash: logo.hash },
  });
});
