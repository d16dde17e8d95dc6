import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { sql } from 'kysely';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { openDeps } from '../../src/boot/service.ts';
import { startWorkerFor } from '../../src/boot/worker.ts';
import { readConfig } from '../../src/core/config.ts';
import { importCommand } from '../../src/operate/import/command.ts';
import { embeddedConnection } from '../../src/platform/database/embedded.ts';
import { openPool } from '../../src/platform/database/pool.ts';
import { clip } from '../media/clips.ts';
import { stopTagging, tagFile } from '../media/tagged-files.ts';
import { base as reachable } from '../platform/clusters.ts';
import { titled, withEntity } from '../sidecars/programs.ts';
import { rootSettings, signInAt } from '../support/first-admin.ts';
import { sharedMedia } from '../support/library.ts';
import { jpeg, plainText, png, truncatedJpeg } from '../support/pictures.ts';
import { bin, startProcess } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const MANY = 16;
/** The name and day of folders such as `2026-05-06 Regatta`. */
const patterns = ['--field', 'event={yyyy}-{mm}-{dd} {value}/', '--field', 'event_day={yyyy}-{mm}-{dd}*/'];

async function place(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
}

const base = await temporaryDirectory(reachable);
const dataDir = join(base, 'data');
await mkdir(dataDir, { mode: 0o755 });
const pictures = join(base, 'Holidays');
await place(join(pictures, 'first.jpg'), await jpeg(60, 40, { seed: 1 }));
await place(join(pictures, 'Zoë ☃ (1).png'), await png(60, 40, 2));
await place(join(pictures, 'alps', 'ridge.jpg'), await jpeg(60, 40, { seed: 3 }));
await place(join(pictures, 'alps', 'broken.jpg'), await truncatedJpeg());
await place(join(pictures, 'alps', 'notes.jpg'), plainText());
await place(join(pictures, 'alps', '2026', 'june', 'valley.jpg'), await jpeg(40, 60, { seed: 4 }));
await place(join(pictures, 'sea', 'waves.jpg'), await jpeg(60, 60, { seed: 5 }));
await place(join(pictures, 'sea', 'empty.jpg'), new Uint8Array());
// None of these may be imported.
await place(join(pictures, '.DS_Store'), plainText('hidden'));
await place(join(pictures, '.thumbnails', 'a.jpg'), await jpeg(20, 20, { seed: 6 }));
await symlink(join(pictures, 'first.jpg'), join(pictures, 'sea', 'link.jpg'));
await symlink(pictures, join(pictures, 'sea', 'loop'));
/** Serves the library while the tests import into it, and leaves the previews to their workers. */
const service = await startProcess(dataDir, { ...rootSettings, VITRINE_JOBS: 'extract' });

afterAll(stopTagging);
afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.exited;
});

/** Runs the command as an operator types it. */
async function vitrine(...args: string[]): Promise<{ code: number | null; lines: string[] }> {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, VITRINE_DATA: dataDir, ...rootSettings };
  const child = spawn(process.execPath, [bin, ...args], {
    env,
    cwd: base,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [[code], out] = await Promise.all([once(child, 'close'), text(child.stdout)]);
  return { code, lines: out.trimEnd().split('\n') };
}

/** The usual dependencies, with decoders that all commands of this process share: starting them costs most. */
const openWithSharedMedia: typeof openDeps = async (db, storage, config, log) => {
  const { decoders, metadata } = sharedMedia();
  const keepOpen = async () => {};
  const media = { decoders: { ...decoders, close: keepOpen }, metadata: { ...metadata, close: keepOpen } };
  return openDeps(db, storage, config, log, { media });
};

/** Runs the same command in this process, beside a running service. Returns what it prints. */
async function importHere(...args: string[]): Promise<string[]> {
  return importIn('C', ...args);
}

/** The same for an operator with this locale. */
async function importIn(locale: string, ...args: string[]): Promise<string[]> {
  const lines: string[] = [];
  const print = vi.spyOn(console, 'log').mockImplementation((line: string) => lines.push(line));
  try {
    const config = readConfig({ VITRINE_DATA: dataDir, LANG: locale, ...rootSettings }, base);
    await importCommand(config, args, { openDeps: openWithSharedMedia, startWorker: startWorkerFor });
  } finally {
    print.mockRestore();
  }
  return lines;
}

async function originals(): Promise<number> {
  const directory = join(dataDir, 'library', 'originals');
  const found = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  return found.filter((entry) => entry.isFile()).length;
}

/** Queries the database directly, which runs only while one of our processes does. */
async function ask<T>(query: ReturnType<typeof sql<T>>): Promise<T[]> {
  const database = openPool(embeddedConnection(dataDir), 1);
  const { rows } = await query.execute(database.db);
  await database.close();
  return rows;
}

/** Returns the numbers of imported, existing and failed files in the summary. */
function countsOf(lines: string[]): [number, number, number] {
  const found = /^(\d+) imported, (\d+) already present.*, (\d+) failed$/.exec(lines[0] ?? '');
  return [Number(found?.[1]), Number(found?.[2]), Number(found?.[3])];
}

// Each test continues with the library of the previous one.
describe('vitrine import DIR', () => {
  // ADMIN-9
  test('joins a running service, imports a tree of folders, reports failures and exits with 3', async () => {
    const { code, lines } = await vitrine('import', pictures);
    expect(lines[0]).toBe('8 imported, 0 already present, 1 failed');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(
      new RegExp(`^  ${join(pictures, 'alps', 'broken.jpg')}: stored, not rendered: \\S+`),
    );
    expect(code).toBe(3);
    expect(await originals()).toBe(8);
  });

  // ADMIN-9
  test('can be interrupted and resumed, and imports nothing twice', async () => {
    const many = join(base, 'many');
    for (let i = 0; i < MANY; i += 1)
      await place(
        join(many, i % 2 === 0 ? 'even' : 'odd', `${i}.jpg`),
        await jpeg(48, 32, { seed: 1000 + i * 7 }),
      );
    const before = await originals();
    const stopping = importHere(many);
    await expect.poll(originals, { interval: 1 }).toBeGreaterThan(before + 1);
    process.emit('SIGINT');
    const stopped = await stopping;
    const [imported, there, failed] = countsOf(stopped);
    expect([there, failed]).toEqual([0, 0]);
    expect(imported).toBeGreaterThanOrEqual(2);
    expect(imported).toBeLessThan(MANY);
    expect(stopped.at(-1)).toMatch(/^stopped; run it again/);

    const again = await importHere(many);
    expect(countsOf(again)).toEqual([MANY - imported, imported, 0]);
    expect(again).toHaveLength(1);
    expect(await originals()).toBe(before + MANY);
  });

  // ADMIN-32, MEDIA-65
  test('makes one asset of the two files of a live photo', async () => {
    const phone = join(base, 'phone');
    const film = await clip({ format: 'mov', video: { encoder: 'libx264' }, seconds: 1 });
    await place(join(phone, 'IMG_9.JPG'), await jpeg(64, 48, { seed: 990 }));
    await place(join(phone, 'IMG_9.MOV'), film);
    await place(
      join(phone, 'IMG_10.MOV'),
      await clip({ format: 'mov', video: { encoder: 'libx264' }, seconds: 2 }),
    );
    const dry = await importHere(phone, '--dry-run');
    expect(dry[0]).toContain('2 files would be imported');
    expect(dry[1]).toContain('1 film of live photos');
    const done = '2 imported, 0 already present, 1 film of live photos, 0 failed';
    expect(await importHere(phone)).toEqual([done]);
    expect(await importHere(phone)).toEqual([done.replace('2 imported, 0', '0 imported, 2')]);
    const rows = await ask(sql<{ file_name: string; bytes: number | null }>`
      select a.file_name, f.size_bytes as bytes from assets a left join files f on f.hash = a.film_hash
      where a.file_name ~ '^IMG_(9|10)' order by 1`);
    expect(rows).toEqual([
      { file_name: 'IMG_10.MOV', bytes: null },
      { file_name: 'IMG_9.JPG', bytes: film.length },
    ]);
    await place(join(phone, 'IMG_10.JPG'), await jpeg(64, 48, { seed: 991 }));
    expect(await importHere(phone)).toEqual([
      '1 imported, 1 already present, 2 films of live photos, 0 failed',
    ]);
    const photos = await ask(sql<{ file_name: string }>`select file_name from assets
      where file_name ~ '^IMG_(9|10)' and film_hash is not null order by 1`);
    expect(photos.map(({ file_name }) => file_name)).toEqual(['IMG_10.JPG', 'IMG_9.JPG']);
    await ask(sql`delete from assets where file_name ~ '^IMG_(9|10)'`);
  });

  // STACK-6
  test('stacks raw files, bursts and brackets, unless --no-stacks is given', async () => {
    const card = join(base, 'card');
    for (const [at, name] of ['DSC_1', 'DSC_2'].entries()) {
      await place(join(card, name, `${name}.JPG`), await jpeg(64, 48, { seed: 970 + at }));
      await place(join(card, name, `${name}.nef`), plainText(name));
    }
    const stacked = async () => {
      const rows = await ask(sql<{ file_names: string[] }>`
        select array_agg(a.file_name order by s.place) as file_names from stacked_assets s
        join assets a on a.id = s.asset_id group by s.stack_id order by 1`);
      return rows.map(({ file_names }) => file_names);
    };
    expect(await importHere(join(card, 'DSC_1'), '--no-stacks')).toEqual([
      '2 imported, 0 already present, 0 failed',
    ]);
    expect(await stacked()).toEqual([]);
    const bracket = ['DSC_5.JPG', 'DSC_6.JPG', 'DSC_7.JPG'];
    for (const [at, name] of bracket.entries()) {
      await place(join(card, name), await jpeg(64, 48, { seed: 980 + at }));
      await tagFile(join(card, name), {
        'ExifIFD:ExposureMode': '2',
        'ExifIFD:DateTimeOriginal': `2026:05:06 12:00:0${at}`,
        'ExifIFD:ExposureCompensation': String(at),
      });
    }
    const burst = ['00001DSC_BURST20260506120000_COVER.jpg', '00000DSC_BURST20260506120000.jpg'];
    for (const [at, name] of burst.entries())
      await place(join(card, name), await jpeg(64, 48, { seed: 985 + at }));
    expect((await importHere(card, '--dry-run')).slice(1)).toEqual([
      expect.stringMatching(/^ {2}\.: 5 files .*, 2 stacks$/),
      expect.stringMatching(/^ {2}DSC_1: 2 files .*, 1 stack$/),
      expect.stringMatching(/^ {2}DSC_2: 2 files .*, 1 stack$/),
    ]);
    expect(await importHere(card)).toEqual(['7 imported, 2 already present, 4 stacks made, 0 failed']);
    expect(await stacked()).toEqual([burst, ['DSC_1.JPG', 'DSC_1.nef'], ['DSC_2.JPG', 'DSC_2.nef'], bracket]);
    await ask(sql`delete from assets where file_name ~ 'DSC_'`);
  });

  test('applies --sensitivity to new files', async () => {
    const late = join(base, 'late');
    await place(join(late, 'fresh.jpg'), await jpeg(320, 200, { seed: 77 }));
    expect(await importHere(late, '--sensitivity', 'org')).toEqual([
      '1 imported, 0 already present, 0 failed',
    ]);
    const assets = await ask(sql<{ id: string; sensitivity: string }>`select id, sensitivity from assets
      where file_name in ('fresh.jpg', 'first.jpg') order by file_name desc`);
    expect(assets.map(({ sensitivity }) => sensitivity)).toEqual(['org', 'posts']);
    const visitor = await signInAt(service.address);
    expect(await visitor.ok('getAsset', { params: { id: assets[0]?.id ?? '' } })).toMatchObject({
      title: 'fresh',
      processing_status: 'ready',
      ladder_available: true,
      pixel_width: 320,
    });
  });

  test('renders every picture and text', async () => {
    const rows = await ask(sql<{ status: string; rendered: boolean; files: string[] }>`
      select a.processing_status as status, f.renditions <> '{}' as rendered, array_agg(a.file_name order by 1) as files
      from assets a join files f on f.hash = a.file_hash group by 1, 2`);
    const plain = rows.find((row) => row.status === 'ready' && !row.rendered);
    expect(plain?.files.sort()).toEqual(['empty.jpg']);
    expect(rows.find((row) => row.status === 'failed')?.files).toEqual(['broken.jpg']);
    expect(rows.find((row) => row.status === 'ready' && row.rendered)?.files).toHaveLength(5 + MANY + 2);
    expect(rows).toHaveLength(3);
  });

  test('creates one post per folder with --post, and another for new files in it', async () => {
    const first = await importHere(pictures, '--post');
    expect(first).toEqual(['0 imported, 8 already present, 4 posts made, 0 failed']);
    await place(join(pictures, 'sea', 'tide.jpg'), await jpeg(90, 60, { seed: 88 }));
    const again = await importHere(pictures, '--post');
    expect(again).toEqual(['1 imported, 8 already present, 1 post made, 0 failed']);
    const { items } = await (await signInAt(service.address)).ok('listPosts');
    const made = items.map((post) => [
      post.title,
      post.members.map((member) => (member.restricted ? null : member.asset.title)),
    ]);
    expect(made.sort()).toEqual([
      ['Holidays', ['first', 'Zoë ☃ (1)']],
      ['alps', ['broken', 'notes', 'ridge']],
      ['june', ['valley']],
      ['sea', ['empty', 'waves']],
      ['sea', ['tide']],
    ]);
    expect(new Set(items.map((post) => post.visibility))).toEqual(new Set(['org-only']));
  });

  test('imports for the account of --user, with one asset for identical files', async () => {
    const copies = join(base, 'copies');
    const bytes = await jpeg(60, 40, { seed: 99 });
    for (let i = 0; i < 6; i += 1) await place(join(copies, `copy ${i}.jpg`), bytes);
    const [mara] = await ask(sql<{ ref: number }>`insert into users (username, role_id)
      select 'Mara', id from roles where code = 'member' returning ref`);
    const lines = await importHere(copies, '--user', 'MARA');
    const owned = await ask(sql<{ title: string }>`select title from assets
      where owner_user_ref = ${mara?.ref ?? 0}`);
    expect(owned).toHaveLength(1);
    expect(lines).toEqual(['1 imported, 5 already present, 0 failed']);
  });

  // SUBTITLE-6
  test('imports subtitles beside a video as its track, also later', async () => {
    const films = join(base, 'films');
    const srt = plainText('1\n00:00:01,000 --> 00:00:02,000\nWellen\n');
    await place(join(films, 'Surf.mp4'), await clip({ format: 'mp4', video: { encoder: 'mpeg4' } }));
    await place(join(films, 'surf.de.srt'), srt);
    await place(join(films, 'elsewhere', 'surf.en.srt'), srt);
    const lines = await importHere(films);
    expect(lines).toEqual(['2 imported, 0 already present, 1 attached as subtitles, 0 failed']);
    const tracks = () =>
      ask(sql<{ file_name: string; lang: string }>`select a.file_name, s.lang from subtitles s
        join assets a on a.id = s.asset_id`);
    expect(await tracks()).toEqual([{ file_name: 'Surf.mp4', lang: 'de' }]);
    await place(join(films, 'surf.fr.srt'), srt);
    const again = await importHere(films);
    expect(again).toEqual(['0 imported, 2 already present, 2 attached as subtitles, 0 failed']);
    expect(await tracks()).toHaveLength(2);
  });

  // ADMIN-30, ADMIN-31
  test('says with --dry-run what each folder would give, and writes nothing', async () => {
    await ask(sql`insert into fields (code, label, type, subject_kind) values
      ('event', 'Event', 'text', 'asset'), ('event_day', 'Day', 'date', 'asset')`);
    const before = await originals();
    const shoot = join(base, 'shoot');
    await place(join(shoot, '2026-05-06 Regatta', '2.jpg'), await jpeg(50, 40, { seed: 501 }));
    await place(join(shoot, '2026-05-06 Regatta', '10.jpg'), await jpeg(50, 40, { seed: 502 }));
    await place(join(shoot, '2026-05-06 Regatta', '.DS_Store'), plainText('x'));
    await place(join(shoot, 'again.jpg'), await jpeg(320, 200, { seed: 77 }));
    const lines = await importHere(shoot, '--dry-run', ...patterns);
    expect(lines[0]).toMatch(
      /^2 files would be imported, 1 already present, 2 folders, .*; nothing was written$/,
    );
    expect(lines.slice(1).map((line) => line.replace(/\d+\.\d KiB|\d+ bytes/, 'SIZE'))).toEqual([
      '  .: 1 file (1 image), SIZE',
      '  2026-05-06 Regatta: 2 files (2 image), SIZE, skipped: 1 written by the system',
      '    event = Regatta (2 files)',
      '    event_day = 2026-05-06 (2 files)',
      `  skipped ${join(shoot, '2026-05-06 Regatta', '.DS_Store')}: written by the system`,
    ]);
    expect(await originals()).toBe(before);
    expect(await ask(sql`select from collections`)).toEqual([]);
  });

  // ADMIN-9, ADMIN-31
  test('fills fields from paths and makes a collection of each folder, also in a second run', async () => {
    const shoot = join(base, 'shoot');
    const first = await importHere(shoot, '--collections', ...patterns);
    expect(first).toEqual(['2 imported, 1 already present, 2 collections made, 0 failed']);
    const values = await ask(sql<{ code: string; value: string }>`select f.code,
        coalesce(v.value_text, to_char(v.value_date at time zone 'UTC', 'YYYY-MM-DD')) as value
      from asset_field_values v join fields f on f.id = v.field_id join assets a on a.id = v.asset_id
      where a.file_name in ('2.jpg', '10.jpg') and f.code like 'event%' order by a.file_name, f.code`);
    expect(values.map(({ code, value }) => `${code}: ${value}`)).toEqual([
      'event: Regatta',
      'event_day: 2026-05-06',
      'event: Regatta',
      'event_day: 2026-05-06',
    ]);
    await place(join(shoot, '2026-05-06 Regatta', '3.jpg'), await jpeg(50, 40, { seed: 503 }));
    const again = await importHere(shoot, '--collections', ...patterns);
    expect(again).toEqual(['1 imported, 3 already present, 0 failed']);
    const placed = await ask(sql<{ name: string; files: string[] }>`select c.name,
        array_agg(a.file_name order by p.position) as files
      from collections c join collection_assets p on p.collection_id = c.id join assets a on a.id = p.asset_id
      group by c.name order by c.name`);
    expect(placed).toEqual([
      { name: '2026-05-06 Regatta', files: ['2.jpg', '10.jpg', '3.jpg'] },
      { name: 'shoot', files: ['fresh.jpg'] },
    ]);
  });

  // SIDECAR-5, SIDECAR-8
  test('reads sidecars beside files, never as files of their own, and reports those without a file', async () => {
    const album = join(base, 'album');
    await place(join(album, 'one.jpg'), await jpeg(50, 40, { seed: 601 }));
    await place(join(album, 'one.jpg.xmp'), plainText(titled('By hand')));
    await place(join(album, 'two.jpg'), await jpeg(50, 40, { seed: 602 }));
    await place(join(album, 'two.xmp'), plainText(withEntity));
    const takeout = { title: 'two.jpg', favorited: true, photoTakenTime: { timestamp: '1714972089' } };
    await place(join(album, 'two.jpg.supplemental-metada.json'), plainText(JSON.stringify(takeout)));
    await place(join(album, 'notes.json'), plainText('{"a":1}'));
    await place(join(album, 'gone.xmp'), plainText(titled('Gone')));
    await ask(sql`update fields set extraction_source = 'title' where code = 'title'`);
    const dry = await importHere(album, '--dry-run');
    expect(dry[1]).toMatch(/^ {2}\.: 3 files \(.*\), .*, 3 sidecars, skipped: 1 sidecar without its file$/);
    const lines = await importHere(album);
    expect(lines).toEqual([
      '3 imported, 0 already present, 2 sidecars read, 2 failed',
      `  ${join(album, 'gone.xmp')}: a sidecar without the file that it describes`,
      `  ${join(album, 'two.xmp')}: a sidecar has no document type and no entities`,
    ]);
    expect(process.exitCode).toBe(3);
    process.exitCode = undefined;
    const kept = await ask(sql<{
      name: string;
      kinds: string[];
      tags: string[] | null;
    }>`select a.file_name as name,
        array_agg(distinct s.kind) as kinds, array_agg(distinct t.value) filter (where t.value is not null) as tags
      from asset_sidecars s join assets a on a.id = s.asset_id left join asset_tags t on t.asset_id = a.id
      group by a.file_name order by 1`);
    expect(kept).toEqual([
      { name: 'one.jpg', kinds: ['named'], tags: null },
      { name: 'two.jpg', kinds: ['takeout'], tags: ['favourite'] },
    ]);
    await expect
      .poll(
        async () =>
          (await ask(sql<{ title: string }>`select title from assets where file_name = 'one.jpg'`))[0]?.title,
      )
      .toBe('By hand');
    const again = await importHere(album);
    expect(again[0]).toBe('0 imported, 3 already present, 2 sidecars read, 2 failed');
    process.exitCode = undefined;
  });

  test('refuses invalid arguments with one line', async () => {
    for (const [args, message] of [
      [[], /^name a directory/],
      [[join(pictures, 'first.jpg')], /first\.jpg is not a directory$/],
      [[pictures, '--sensitivity', 'team'], /^--sensitivity is posts, org, /],
      [[pictures, '--frobnicate'], /--frobnicate/],
      [[pictures, '--field', 'event'], /^--field is CODE=PATTERN, .*, not event$/],
      [[pictures, '--field', 'event={when}/'], /^--field event=\{when\}\/: \{when\} is none of \{value\}, /],
      [[pictures, '--field', 'event=*/'], /it has no placeholder/],
      [[pictures, '--field', 'nothing={value}/'], /^--field: assets have no field nothing$/],
      [[pictures, '--user', 'nobody'], /^no user nobody$/],
    ] as const)
      await expect(importHere(...args)).rejects.toThrow(message);
  });

  // LANGUAGE-7
  test('says in the language of the operator why a file was not rendered', async () => {
    const damaged = join(base, 'damaged', 'half.jpg');
    const whole = await jpeg(60, 40, { seed: 9000 });
    await place(damaged, whole.subarray(0, whole.length >> 1));
    const lines = await importIn('de_DE.UTF-8', dirname(damaged));
    const reason = /: gespeichert, ohne Vorschau: sie lässt sich nicht dekodieren \(„.+“\)$/;
    expect([process.exitCode, lines[1]]).toEqual([3, expect.stringMatching(reason)]);
    process.exitCode = undefined;
  });

  test('runs without the service too', async () => {
    service.child.kill('SIGTERM');
    await service.exited;
    const late = join(base, 'late');
    await place(join(late, 'fresher.jpg'), await jpeg(32, 20, { seed: 78 }));
    expect(await importHere(late)).toEqual(['1 imported, 1 already present, 0 failed']);
  });
});
