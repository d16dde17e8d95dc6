import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Sharp } from 'sharp';
import { type Clip, clip } from '../media/clips.ts';
import { pdf } from '../media/documents.ts';
import { glb, gltf, obj, packedGlb, ply, stl } from '../media/models.ts';
import { ole } from '../media/ole-files.ts';
import { docx, odt, tar, zip } from '../media/packages.ts';
import { bmp, cameraRaw, exr, ico, j2k, layeredPsd, psd, radiance, stored } from '../media/picture-files.ts';
import { dosEps, eps, epsi, postscript } from '../media/postscript.ts';
import {
  animatedGif,
  cmykJpeg,
  grey16Tiff,
  svg,
  transparentPng,
  wideGamutJpeg,
} from '../support/pictures.ts';
import { scene } from './scenes.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** How a file is shown: as a picture, as a list of its contents, or as an icon. */
type Shown = 'picture' | 'list' | 'icon';

/** One file of the corpus. */
export interface CorpusFile {
  name: string;
  shown: Shown;
  make(): Promise<Bytes>;
}

const own = (bytes: Uint8Array): Bytes => Uint8Array.from(bytes);
const text = (...lines: string[]): Bytes => new TextEncoder().encode(`${lines.join('\n')}\n`);
const colours: [[number, number, number], [number, number, number]] = [
  [4, 0.4, 0.1],
  [0.05, 0.2, 0.9],
];

/** A font package of npm; its files are not copied into the repository. */
const modules = join(import.meta.dirname, '../../../node_modules');
const packaged = (path: string) => async () => own(await readFile(join(modules, path)));

const shownBy =
  (shown: Shown) =>
  (name: string, make: () => Promise<Bytes>): CorpusFile => ({ name, shown, make });
const [picture, list, icon] = [shownBy('picture'), shownBy('list'), shownBy('icon')];
const drawing = (name: string, width: number, height: number, finish: (picture: Sharp) => Sharp) =>
  picture(name, async () => own(await finish(scene(width, height, name)).toBuffer()));
const film = (name: string, of: Clip) => picture(name, () => clip({ seconds: 1, ...of }));
const source = 'testsrc2=s=320x180:r=25';
const h264 = { encoder: 'libx264', source, options: { preset: 'ultrafast' } };

const pictures: readonly CorpusFile[] = [
  drawing('photo.jpg', 800, 500, (p) => p.jpeg()),
  drawing('progressive.jpg', 800, 500, (p) => p.jpeg({ progressive: true })),
  picture('cmyk.jpg', () => cmykJpeg(800, 500)),
  picture('display-p3.jpg', () => wideGamutJpeg(800, 500)),
  drawing('drawing.png', 800, 500, (p) => p.png()),
  drawing('16-bit.png', 800, 500, (p) => p.toColourspace('rgb16').png()),
  picture('transparent.png', () => transparentPng(600, 600)),
  drawing('comic.png', 700, 4200, (p) => p.png()),
  drawing('panorama.jpg', 6000, 900, (p) => p.jpeg()),
  drawing('still.webp', 1200, 750, (p) => p.webp()),
  drawing('still.avif', 800, 500, (p) => p.avif({ effort: 0 })),
  drawing('still.gif', 600, 375, (p) => p.gif()),
  picture('moving.gif', animatedGif),
  drawing('scan.tiff', 1200, 750, (p) => p.tiff({ compression: 'lzw' })),
  picture('grey-16.tiff', () => grey16Tiff(400, 300)),
  picture('logo.svg', async () => svg(400, 300)),
  picture('window.bmp', async () => bmp(300, 200)),
  picture('favicon.ico', async () => ico(64)),
  picture('flat.psd', async () => psd(300, 200)),
  picture('layers.psd', async () => layeredPsd(300, 200)),
  picture('light.exr', async () => exr(64, 40, { halves: colours })),
  picture('light.hdr', async () => radiance(64, 40, { halves: colours })),
  picture('iphone.heic', () => stored('halves.heic')),
  picture('display-p3.heic', () => stored('display-p3.heic')),
  picture('still.jxl', () => stored('halves.jxl')),
  picture('scan.jp2', () => stored('halves-16.jp2')),
  picture('scan.j2k', () => j2k(128, 96)),
  picture('camera.raw', async () => cameraRaw(1, [await scene(1200, 800, 'raw').jpeg().toBuffer()])),
];

const films: readonly CorpusFile[] = [
  film('film.mp4', { format: 'mp4', video: h264, audio: { encoder: 'aac' } }),
  film('silent.mp4', { format: 'mp4', video: h264 }),
  film('film.mov', { format: 'mov', video: h264, audio: { encoder: 'aac' } }),
  film('film.mkv', { format: 'matroska', video: h264, audio: { encoder: 'flac' } }),
  film('film.webm', { format: 'webm', video: { encoder: 'libvpx-vp9' }, audio: { encoder: 'libopus' } }),
  film('film.avi', { format: 'avi', video: { encoder: 'mpeg4' }, audio: { encoder: 'libmp3lame' } }),
  film('film.ts', { format: 'mpegts', video: h264, audio: { encoder: 'aac' } }),
  film('film.wmv', { format: 'asf', video: { encoder: 'wmv2' }, audio: { encoder: 'wmav2' } }),
  film('film.flv', { format: 'flv', video: { encoder: 'flv' } }),
  film('film.mpg', { format: 'mpeg', video: { encoder: 'mpeg2video' } }),
];

const sounds: readonly CorpusFile[] = [
  film('song.mp3', { format: 'mp3', audio: { encoder: 'libmp3lame' } }),
  film('song.wav', { format: 'wav', audio: { encoder: 'pcm_s16le' } }),
  film('song.flac', { format: 'flac', audio: { encoder: 'flac' } }),
  film('song.ogg', { format: 'ogg', audio: { encoder: 'libvorbis' } }),
  film('song.opus', { format: 'opus', audio: { encoder: 'libopus' } }),
  film('song.m4a', { format: 'ipod', audio: { encoder: 'aac' } }),
  film('song.aiff', { format: 'aiff', audio: { encoder: 'pcm_s16be' } }),
];

const documents: readonly CorpusFile[] = [
  picture('brief.pdf', async () => pdf(['Harbour brief', 'Four mornings, one boat, no people.'])),
  picture('notes.txt', async () =>
    text('Notes of the second morning', '', 'Fog until nine. The red boat left at ten.'),
  ),
  picture('windows.txt', async () => own(Buffer.from('\ufeffNotes of the third morning\r\n', 'utf16le'))),
  picture('illustration.ai', async () => pdf(['Made with Illustrator'])),
  picture('preview.eps', dosEps),
  picture('comments.epsi', async () => epsi()),
  icon('plain.eps', async () => eps()),
  icon('print.ps', async () => postscript()),
  icon('letter.doc', async () => ole([{ name: 'WordDocument' }])),
  icon('list.xls', async () => ole([{ name: 'Workbook' }])),
  icon('talk.ppt', async () => ole([{ name: 'PowerPoint Document' }])),
  picture('readme.md', async () =>
    text('# Harbour', '', 'Four **mornings**, one boat:', '', '- fog', '- rain', '- sun'),
  ),
  picture('shots.csv', async () => text('shot,time,place', '1,06:40,pier', '2,07:05,bridge')),
  picture('shots.json', async () =>
    text(JSON.stringify({ shots: [{ time: '06:40', place: 'pier' }] }, null, 2)),
  ),
  picture('render.py', async () =>
    text('import sys', '', 'def total(a, b):', '    return a + b', '', 'print(total(1, 2))'),
  ),
  picture('page.html', async () => text('<!doctype html>', '<title>Harbour</title>', '<p>Four mornings</p>')),
  picture('with-thumbnail.docx', async () => {
    const thumbnail = await scene(320, 450, 'docx').jpeg().toBuffer();
    return docx(['Harbour brief'], { more: { 'docProps/thumbnail.jpeg': thumbnail } });
  }),
  icon('without-thumbnail.docx', async () => docx(['Harbour brief'])),
  icon('brief.odt', async () => odt('Harbour brief')),
  icon('book.epub', async () => zip({ mimetype: 'application/epub+zip', 'one.xhtml': '<p>Harbour</p>' })),
];

const fonts: readonly CorpusFile[] = [
  picture('inter.woff2', packaged('@fontsource-variable/inter/files/inter-latin-standard-normal.woff2')),
  picture('icons.ttf', packaged('playwright-core/lib/vite/traceViewer/codicon.DCmgc-ay.ttf')),
];

const models: readonly CorpusFile[] = [
  picture('ring.glb', async () => glb()),
  picture('ring.gltf', async () => gltf()),
  picture('draco.glb', () => packedGlb('draco')),
  picture('meshopt.glb', () => packedGlb('meshopt')),
  picture('ring.obj', async () => obj()),
  picture('ring.stl', async () => stl()),
  picture('ring.ply', async () => ply()),
];

const inside = { 'brief/readme.md': '# Harbour\n', 'brief/shots.csv': 'shot,time\n1,06:40\n' };
const archives: readonly CorpusFile[] = [
  list('brief.zip', async () => zip(inside)),
  list('brief.tar', async () => own(await tar(inside))),
  list('brief.tar.gz', async () => own(gzipSync(await tar(inside)))),
];

/** Files of every kind that studios have, made with open tools; no third party has rights to their pictures. */
export const corpus: readonly CorpusFile[] = [
  ...pictures,
  ...films,
  ...sounds,
  ...documents,
  ...fonts,
  ...models,
  ...archives,
];
