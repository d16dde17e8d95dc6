import { isDeepStrictEqual } from 'node:util';
import { addressKeys, getAdminTexts, setTexts, Texts } from '@vitrine/contract/texts';
import { handle } from '../../core/handle.ts';
import { readSetting, writeSetting } from '../../core/settings.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Database } from '../../platform/database/pool.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { refuse } from '../../platform/http/refuse.ts';

const compiled = compileLater(Texts);

/** Returns the operator's texts; empty when there are none. */
export async function readTexts(db: Database): Promise<Texts> {
  const stored = await readSetting(db, 'texts');
  return compiled().Check(stored) ? stored : {};
}

export const showForAdmin = handle(getAdminTexts, async ({ db }) => ({
  status: 200,
  body: { texts: await readTexts(db) },
}));

/** Returns the texts that are not empty, trimmed. */
function written(texts: Readonly<Record<string, string | null>>): Readonly<Record<string, string>> {
  const trimmed = Object.entries(texts).map(([key, text]) => [key, text?.trim() ?? ''] as const);
  return Object.fromEntries(trimmed.filter(([, text]) => text !== ''));
}

/** Returns the translations of the languages that have any. */
function writtenTranslations(
  translations: NonNullable<Texts['translations']>,
): NonNullable<Texts['translations']> {
  const texts = Object.entries(translations).map(([tag, words]) => [tag, written(words)] as const);
  return Object.fromEntries(texts.filter(([, words]) => Object.keys(words).length > 0));
}

/** Omitted or empty texts revert to the defaults; other texts are stored as written. */
export const change = handle(setTexts, async ({ db }, { caller, body }) => {
  const { translations, ...plain } = body.texts;
  const words = written(plain);
  for (const [key, text] of Object.entries(words)) {
    const isAddress = addressKeys.some((name) => name === key);
    if (isAddress && !URL.canParse(text)) throw refuse('text-address-invalid', { property: `texts.${key}` });
  }
  const translated = writtenTranslations(translations ?? {});
  const texts: Texts = {
    ...words,
    ...(Object.keys(translated).length === 0 ? {} : { translations: translated }),
  };
  await db.transaction().execute(async (tx) => {
    const before: Readonly<Record<string, unknown>> = await readTexts(tx);
    const after: Readonly<Record<string, unknown>> = texts;
    const keys = new Set([...Object.keys(before), ...Object.keys(texts)]);
    const changed = [...keys].filter((key) => !isDeepStrictEqual(before[key], after[key])).sort();
    await writeSetting(tx, 'texts', texts);
    await recordEvent(tx, caller, { event: 'system.texts.changed', metadata: { changed } });
  });
  return { status: 200, body: { texts: await readTexts(db) } };
});
