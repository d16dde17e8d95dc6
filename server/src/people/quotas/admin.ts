import * as contract from '@vitrine/contract/quotas';
import { sql } from 'kysely';
import { administered } from '../../access/administered.ts';
import { handle } from '../../core/handle.ts';
import { writeSetting } from '../../core/settings.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { readInstallQuota, readUserQuota } from './check.ts';

export const show = handle(contract.getQuotas, async ({ db }) => ({
  status: 200,
  body: await readInstallQuota(db),
}));

export const change = handle(contract.setQuotas, async ({ db }, { caller, body }) => {
  await db.transaction().execute(async (tx) => {
    await writeSetting(tx, 'quota_person_bytes', body.person_bytes);
    await writeSetting(tx, 'quota_install_bytes', body.install_bytes);
    await recordEvent(tx, caller, { event: 'system.quotas.changed', metadata: { ...body } });
  });
  return { status: 200, body: await readInstallQuota(db) };
});

export const showOwn = handle(contract.getOwnQuota, async ({ db }, { caller }) => {
  const quota = await readUserQuota(db, caller.ref);
  if (quota === null) throw notFound();
  return { status: 200, body: quota };
});

export const showOfUser = handle(contract.getUserQuota, async ({ db }, { params }) => {
  const quota = await readUserQuota(db, params.ref);
  if (quota === null) throw notFound();
  return { status: 200, body: quota };
});

export const changeOfUser = handle(contract.setUserQuota, async ({ db }, { caller, params, body }) => {
  await db.transaction().execute(async (tx) => {
    const { ref } = await administered(tx, caller, params.ref);
    await tx
      .updateTable('users')
      .set({ quota_bytes: body.own_bytes, updated_at: sql<string>`now()` })
      .where('ref', '=', ref)
      .execute();
    await recordEvent(tx, caller, {
      event: 'user.quota.changed',
      subjectUserRef: ref,
      metadata: { own_bytes: body.own_bytes },
    });
  });
  const quota = await readUserQuota(db, params.ref);
  if (quota === null) throw notFound();
  return { status: 200, body: quota };
});
