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

/** Omitted or empty texts revert to the defaults; other texts are stored as written. */
export const change = handle(setTexts, async ({ db }, { caller, body }) => {
  const written = Object.entries(body.texts).flatMap(([key, text]) =>
    text == null || text.trim() === '' ? [] : [[key, text.trim()] as const],
  );
  for (const [key, text] of written) {
    const isAddress = addressKeys.some((name) => name === key);
    if (isAddress && !URL.canParse(text)) throw refuse('text-address-invalid', { property: `texts.${key}` });
  }
  const texts = Object.fromEntries(written);
  await db.transaction().execute(async (tx) => {
    const before: Readonly<Record<string, string>> = await readTexts(tx);
    const keys = new Set([...Object.keys(before), ...Object.keys(texts)]);
    const changed = [...keys].filter((key) => before[key] !== texts[key]).sort();
    await writeSetting(tx, 'texts', texts);
    await recordEvent(tx, caller, { event: 'system.texts.changed', metadata: { changed } });
  });
  return { status: 200, body: { texts: await readTexts(db) } };
});
