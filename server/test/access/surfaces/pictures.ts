import type { About } from '../described-world.ts';
import { isServed } from '../due.ts';
import { byAssets } from '../matrix.ts';
import { labelOfAsset, readDoor, refusalOf, together } from '../send-requests.ts';
import { portion, usual } from '../setting.ts';

/** The most results of a search by picture (contract: ImageQuery). */
const MOST = 100;
/** One asset in this many is searched by; the states that the rules distinguish repeat more often. */
const EVERY = 50;

/** SEARCH-16: callers search by and find only pictures of assets whose bytes they receive. */
export async function lookAtPictures({ world, ledger, callers }: About) {
  const pictures = world.assets.filter(({ rendered }) => rendered !== 'nothing');
  await together(callers, async (caller) => {
    const who = caller.kind;
    const served = new Set(pictures.filter((cell) => isServed(who, cell, usual)).map(({ id }) => id));
    const asked = world.assets.filter((_, index) => index % EVERY === 0);
    for (const cell of portion(caller, asked, byAssets)) {
      const { status, text } = await caller.visitor.send('/search/by-image', {
        method: 'POST',
        body: { asset_id: cell.id, limit: MOST },
      });
      const label = () => `${caller.name}: by the picture of ${labelOfAsset(cell)}`;
      const due = refusalOf(caller, readDoor) ?? (served.has(cell.id) ? 200 : 404);
      ledger.hold(() => `${label()}: status`, status, due);
      if (status !== 200) continue;
      const { items }: { items: { asset: { id: string } }[] } = JSON.parse(text);
      const found = new Set(items.map(({ asset }) => asset.id));
      ledger.hold(() => `${label()}: how many`, found.size, Math.min(MOST, served.size - 1));
      const strays = [...found].filter((id) => !served.has(id) || id === cell.id);
      ledger.hold(() => `${label()}: nothing that is not served`, strays.length, 0);
    }
  });
}
