import { getDoctor } from '@vitrine/contract/doctor';
import { handle } from '../../core/handle.ts';
import { examineAll } from './examine.ts';

export const examine = handle(getDoctor, async ({ db, storage, config }) => {
  const checks = await examineAll({ db, storage, config, searchPath: process.env.PATH ?? '' });
  return { status: 200, body: { examined_at: new Date().toISOString(), checks } };
});
