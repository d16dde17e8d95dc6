import { getDoctor } from '@vitrine/contract/doctor';
import { handle } from '../../core/handle.ts';
import { readerLanguage } from '../../core/reader-language.ts';
import { examineAll } from './examine.ts';

export const examine = handle(getDoctor, async ({ db, storage, config }, { caller, http }) => {
  const searchPath = process.env.PATH ?? '';
  const checks = await examineAll({ db, storage, config, searchPath }, readerLanguage(caller, http));
  return { status: 200, body: { examined_at: new Date().toISOString(), checks } };
});
