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

/** Returns the translations that say something. */
function withoutEmpty(translations: NonNullable<Texts['translations']>): NonNullable<Texts['translations']> {
  const said = Object.entries(translations).map(([tag, texts]) => {
    const words = Object.entries(texts).map(([key, text]) => [key, text.trim()] as const);
    return [tag, Object.fromEntries(words.filter(([, text]) => text !== ''))] as const;
  });
  return Object.fromEntries(said.filter(([, texts]) => Object.keys(texts).length > 0));
}

/** Omitted or empty texts revert to the defaults; other texts are stored as written. */
export const change = handle(setTexts, async ({ db }, { caller, body }) => {
  const { translations, ...plain } = body.texts;
  const written = Object.entries(plain).flatMap(([key, text]) =>
    text == null || text.trim() === '' ? [] : [[key, text.trim()] as const],
  );
  for (const [key, text] of written) {
    const isAddress = addressKeys.some((name) => name === key);
    if (isAddress && !URL.canParse(text)) throw refuse('text-address-invalid', { property: `texts.${key}` });
  }
  const translated = withoutEmpty(translations ?? {});
  const texts: Texts = {
    ...Object.fromEntries(written),
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
