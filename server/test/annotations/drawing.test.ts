import type { Anchor } from '@vitrine/contract/annotations';
import type { Stroke } from '@vitrine/contract/strokes';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { clip } from '../media/clips.ts';
import type { Visitor } from '../support/client.ts';
import { formOf, openLibrary, publish, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';
import { png } from '../support/pictures.ts';

const library = await openLibrary();
const [mara, ines, otto] = await library.joinAll('mara', 'ines', 'otto');
await library.setPublicMode(false);
let post: string;

const annotate = (caller: Visitor, what: { asset_id: string; anchor?: Anchor; strokes?: Stroke[] }) =>
  caller.ok('createAnnotation', {
    params: { id: post },
    body: { anchor: { kind: 'point', x: 0.5, y: 0.25 }, body: 'Look here.', ...what },
  });

// ANNOTATION-20
describe('GET /comments/{id}/drawing.png', () => {
  const stroke: Stroke = {
    tool: 'rect',
    points: [
      [0.25, 0.25],
      [0.75, 0.75],
    ],
    color: '#00ff00',
    width: 0.1,
  };
  const look = (caller: Visitor, id: string) =>
    fetch(`${library.address}/api/v1/comments/${id}/drawing.png`, {
      headers: { cookie: `user=${caller.cookie() ?? ''}` },
    });
  const statusFor = async (caller: Visitor, id: string) => (await look(caller, id)).status;
  const colorsAt = async (answer: Response, ...places: [x: number, y: number][]) => {
    const { data, info } = await sharp(await answer.arrayBuffer())
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    return places.map(([x, y]) => {
      const at = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
      return [...data.subarray(at, at + 3)];
    });
  };
  const nearly = (...color: number[]) =>
    color.map((value) => expect.toSatisfy((given: number) => Math.abs(given - value) < 45));

  test('is the picture with the strokes on it, for readers of the bytes', async () => {
    const bay = await upload(mara, await png(120, 80));
    const hidden = await upload(mara, await png(120, 80, 2), { sensitivity: 'restricted' });
    await library.runJobs();
    post = (await publish(mara, [bay, hidden], { visibility: 'public' })).id;
    const words: Stroke = { tool: 'text', points: [[0, 0]], text: '█ <b>&', color: '#00ff00' };
    const { id } = await annotate(ines, {
      asset_id: bay.id,
      strokes: [stroke, words, { points: [[0.5, 0.5, 1]] }],
    });
    const answer = await look(otto, id);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png']);
    const shown = await colorsAt(answer, [0.05, 0.95], [0.95, 0.95], [0.25, 0.5]);
    expect(shown).toEqual([nearly(222, 12, 12), nearly(12, 12, 222), nearly(0, 255, 0)]);
    const anonymous = library.anonymous();
    expect(await statusFor(anonymous, id)).toBe(401);
    await library.setPublicMode(true);
    expect(await statusFor(anonymous, id)).toBe(200);

    const withheld = await annotate(mara, { asset_id: hidden.id, strokes: [stroke] });
    expect([await statusFor(mara, withheld.id), await statusFor(ines, withheld.id)]).toEqual([200, 404]);
    const without = await annotate(ines, { asset_id: bay.id });
    const comment = await ines.ok('createComment', {
      params: { id: post },
      body: { body: 'Yes.', parent_id: id },
    });
    for (const other of [without.id, comment.id, nowhere]) expect(await statusFor(mara, other)).toBe(404);

    // Earlier versions are for those who may edit the file (VERSION-3).
    const form = formOf(await png(120, 80, 3), {});
    await mara.ok('addAssetVersion', { params: { id: bay.id }, body: form });
    await library.runJobs();
    expect([await statusFor(mara, id), await statusFor(otto, id)]).toEqual([200, 404]);
  });

  test('is the frame of a film at the start of the annotation', async () => {
    // Each frame is brighter than the one before.
    const video = {
      encoder: 'mpeg4',
      source: "color=black:s=64x36:r=24000/1001,geq=lum='16+N*4':cb=128:cr=128",
    };
    const film = await upload(
      mara,
      await clip({
        format: 'mp4',
        video: { ...video, rate: { num: 24_000, den: 1001 }, options: { qscale: '2' } },
        seconds: 2,
      }),
    );
    await library.runJobs();
    post = (await publish(mara, [film], { visibility: 'public' })).id;
    for (const frame of [0, 10, 40]) {
      const start = Math.floor(((frame * 1001) / 24_000) * 1e6) / 1e6;
      const anchor = { kind: 'time', start } as const;
      const { id } = await annotate(ines, { asset_id: film.id, anchor, strokes: [stroke] });
      const [corner, edge] = await colorsAt(await look(otto, id), [0.05, 0.05], [0.25, 0.5]);
      const grey = (frame * 4 * 255) / 219;
      expect(Math.abs((corner?.[0] ?? 0) - grey), `frame ${frame} is ${corner}`).toBeLessThan(2.3);
      expect(edge).toEqual(nearly(0, 255, 0));
    }
  });
});
