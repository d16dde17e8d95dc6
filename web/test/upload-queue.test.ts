import { describe, expect, it } from 'vitest';
import { copyNote, nameNote } from '#lib/upload/notes.ts';
import * as queue from '#lib/upload/queue.ts';

const files = (...names: string[]) =>
  queue.added(
    [],
    names.map((name) => ({ id: name, name, size: 1 })),
  );
const pictures = ['a', 'b', 'c'].map((id) => ({ id, name: `${id}.jpg`, size: 100 }));
const three = queue.added([], pictures);

const sent = (id: string, type = 1, extension: string | null = null) => ({ id, type, extension });

const at = (items: queue.UploadQueue, id: string) => items.find((item) => item.id === id);

describe('subtitles among the files', () => {
  it('wait for the video of the same name and are attached in their language', () => {
    const both = files('movie.de.srt', 'Movie.mp4', 'other.srt');
    expect(queue.nextToStart(both, 5)).toEqual(['Movie.mp4', 'other.srt']);
    const ready = queue.finished(queue.started(both, 'Movie.mp4'), 'Movie.mp4', sent('a', 3));
    expect(queue.nextToStart(ready, 5)).toEqual(['movie.de.srt', 'other.srt']);
    const srt = at(ready, 'movie.de.srt');
    expect(srt && queue.videoFor(ready, srt)).toMatchObject({ item: { assetId: 'a' }, lang: 'de' });
    const attached = queue.attached(queue.started(ready, 'movie.de.srt'), 'movie.de.srt', 'Movie.mp4');
    expect(at(attached, 'movie.de.srt')).toMatchObject({ state: 'done', subtitlesOf: 'Movie.mp4' });
    expect(at(attached, 'movie.de.srt')?.assetId).toBeUndefined();
  });

  it('are ordinary files beside a picture or a failed video', () => {
    const picture = queue.finished(queue.started(files('a.jpg', 'a.srt'), 'a.jpg'), 'a.jpg', sent('a', 1));
    expect(queue.nextToStart(picture, 5)).toEqual(['a.srt']);
    const broken = queue.failed(queue.started(files('a.mp4', 'a.srt'), 'a.mp4'), 'a.mp4', 'broken');
    expect(queue.nextToStart(broken, 5)).toEqual(['a.srt']);
  });
});

describe('XMP sidecars among the files', () => {
  // SIDECAR-1
  it('wait for the file that they describe and are no files of the post', () => {
    const both = files('a.jpg.xmp', 'A.jpg', 'b.xmp');
    expect(queue.nextToStart(both, 5)).toEqual(['A.jpg', 'b.xmp']);
    const ready = queue.finished(queue.started(both, 'A.jpg'), 'A.jpg', sent('a', 1));
    expect(queue.nextToStart(ready, 5)).toEqual(['a.jpg.xmp', 'b.xmp']);
    const described = queue.finished(queue.started(ready, 'a.jpg.xmp'), 'a.jpg.xmp', sent('a', 1));
    expect(at(described, 'a.jpg.xmp')).toMatchObject({ state: 'done', describes: 'A.jpg' });
    expect(at(described, 'a.jpg.xmp')?.assetId).toBeUndefined();
    const earlier = queue.finished(queue.started(ready, 'b.xmp'), 'b.xmp', sent('old', 1));
    expect(at(earlier, 'b.xmp')).toMatchObject({ describes: 'an earlier file' });
  });

  it('are files of their own without one that they describe', () => {
    const alone = queue.finished(queue.started(files('b.xmp'), 'b.xmp'), 'b.xmp', sent('b', 7));
    expect(at(alone, 'b.xmp')).toMatchObject({ assetId: 'b' });
  });
});

describe('live photos among the files', () => {
  // UPLOAD-16
  it('send the photo first, and their films do not become files of the post', () => {
    const both = files('IMG_1.MOV', 'img_1.HEIC', 'other.mov');
    expect(queue.nextToStart(both, 5)).toEqual(['img_1.HEIC', 'other.mov']);
    const ready = queue.finished(queue.started(both, 'img_1.HEIC'), 'img_1.HEIC', sent('a', 1));
    expect(queue.nextToStart(ready, 5)).toEqual(['IMG_1.MOV', 'other.mov']);
    const done = queue.finished(queue.started(ready, 'IMG_1.MOV'), 'IMG_1.MOV', sent('a', 1));
    expect(at(done, 'IMG_1.MOV')).toMatchObject({ state: 'done', filmOf: 'img_1.HEIC' });
    expect(at(done, 'IMG_1.MOV')?.assetId).toBeUndefined();
  });

  // UPLOAD-16
  it('are one file of the post if the film was sent before its photo', () => {
    const film = queue.finished(queue.started(files('IMG_1.MOV'), 'IMG_1.MOV'), 'IMG_1.MOV', sent('a', 3));
    const both = queue.added(film, [{ id: 'IMG_1.HEIC', name: 'IMG_1.HEIC', size: 1 }]);
    const done = queue.finished(queue.started(both, 'IMG_1.HEIC'), 'IMG_1.HEIC', sent('a', 1));
    expect(at(done, 'IMG_1.HEIC')).toMatchObject({ state: 'done', assetId: 'a' });
    expect(at(done, 'IMG_1.MOV')).toMatchObject({ state: 'done', filmOf: 'IMG_1.HEIC' });
    expect(at(done, 'IMG_1.MOV')?.assetId).toBeUndefined();
  });

  it('are two files if the service stores the film as a file of its own', () => {
    const both = files('IMG_1.MOV', 'IMG_1.jpg');
    const done = queue.finished(queue.started(both, 'IMG_1.MOV'), 'IMG_1.MOV', sent('film', 3));
    expect(at(done, 'IMG_1.MOV')).toMatchObject({ assetId: 'film' });
  });
});

describe('notes about files', () => {
  it('warn about an empty file or a wrong extension', () => {
    const [empty] = queue.added([], [{ id: 'a', name: 'a.jpg', size: 0 }]);
    expect(empty?.notes).toEqual(['This file is empty.']);
    const done = queue.finished(queue.started(three, 'a'), 'a', sent('x', 1, 'png'));
    expect(at(done, 'a')?.notes).toEqual(['Its name says JPG, but it is a PNG file.']);
  });

  it.each([
    ['a.jpeg', 'jpg'],
    ['a.JPG', 'jpg'],
    ['movie.mov', 'mp4'],
    ['notes.md', 'txt'],
    ['no extension', 'png'],
    ['drawing.dwg', 'zip'],
    ['a.jpg', null],
  ])('do not warn about %s with the bytes of %s', (name, extension) => {
    expect(nameNote(name, extension)).toBeUndefined();
  });

  it('name the existing file with the same bytes', () => {
    expect(copyNote([])).toBeUndefined();
    expect(copyNote(['Ridge'])).toBe('You have this file already: “Ridge”.');
    expect(copyNote(['', 'b', 'c'])).toBe('You have this file already: an untitled file and 2 more.');
  });
});

describe('upload queue', () => {
  it('starts files in order and no more than allowed at once', () => {
    expect(queue.nextToStart(three, 2)).toEqual(['a', 'b']);
    const one = queue.started(three, 'a');
    expect(queue.nextToStart(one, 2)).toEqual(['b']);
    expect(queue.nextToStart(queue.started(one, 'b'), 2)).toEqual([]);
    expect(queue.nextToStart(queue.finished(queue.started(one, 'b'), 'a', sent('x')), 2)).toEqual(['c']);
  });

  it('reports bytes that only grow, up to the size', () => {
    let items = queue.started(three, 'a');
    items = queue.progressed(items, 'a', 60);
    items = queue.progressed(items, 'a', 40);
    expect(at(items, 'a')?.sent).toBe(60);
    expect(at(queue.progressed(items, 'a', 140), 'a')?.sent).toBe(100);
  });

  it('ignores events of a file that is not uploading', () => {
    expect(queue.progressed(three, 'a', 50)).toEqual(three);
    expect(queue.finished(three, 'a', sent('x'))).toEqual(three);
    expect(queue.failed(three, 'gone', 'broken')).toEqual(three);
    expect(queue.retried(three, 'a')).toEqual(three);
  });

  it('retries a failed file from the start and clears its error', () => {
    const lost = queue.failed(queue.progressed(queue.started(three, 'b'), 'b', 50), 'b', 'too large');
    expect(at(lost, 'b')).toMatchObject({ state: 'failed', error: 'too large' });
    expect(queue.nextToStart(lost, 3)).toEqual(['a', 'c']);
    expect(at(queue.retried(lost, 'b'), 'b')).toEqual(at(three, 'b'));
  });

  it('counts files, also the failed ones', () => {
    let items: queue.UploadQueue = three;
    for (const id of ['a', 'b', 'c']) items = queue.started(items, id);
    items = queue.finished(items, 'a', sent('asset-a'));
    items = queue.failed(items, 'b', 'broken');
    expect(queue.countsOf(items)).toEqual({ total: 3, done: 1, failed: 1, unfinished: 1 });
  });

  it('offers the oldest file with the same bytes instead', () => {
    const copies = [
      { id: 'x', title: 'Ridge' },
      { id: 'y', title: 'Again' },
    ];
    expect(at(queue.copied(three, 'a', copies), 'a')).toMatchObject({
      copyOf: { id: 'x' },
      notes: ['You have this file already: “Ridge” and 1 more.'],
    });
    expect(queue.copied(three, 'a', [])).toEqual(three);
  });

  it('accepts 200 files and explains the limit', () => {
    expect(queue.tooManyFiles(0, 200)).toBeUndefined();
    expect(queue.tooManyFiles(3, 197)).toBeUndefined();
    expect(queue.tooManyFiles(0, 201)).toMatch(/at most 200 files, and you chose 201/);
    const room = /It has 3 already, so there is room for 197, and you chose 198/;
    expect(queue.tooManyFiles(3, 198)).toMatch(room);
    expect(queue.tooManyFiles(199, 2)).toMatch(/so there is room for one/);
    expect(queue.tooManyFiles(200, 1)).toMatch(/so there is no room,/);
  });

  it('adds up the progress of all files, by their bytes', () => {
    expect(queue.progressOf([])).toBeUndefined();
    const one = queue.finished(queue.started(three, 'a'), 'a', sent('x'));
    const half = queue.progressed(queue.started(one, 'b'), 'b', 50);
    expect(queue.progressOf(half)).toEqual({ done: 1, total: 3, part: 0.5 });
    const alone = queue.failed(queue.started(three.slice(0, 1), 'a'), 'a', 'no');
    expect(queue.progressOf(alone)).toBeUndefined();
  });

  it('assigns only newly added files to a team', () => {
    const own = queue.added(three, [{ id: 'd', name: 'd.jpg', size: 1 }], 'north');
    const teamsOf = (items: queue.UploadQueue) => items.map((item) => item.teamId);
    const lost = queue.failed(queue.started(own, 'd'), 'd', 'broken');
    expect(at(queue.retried(lost, 'd'), 'd')).toEqual(at(own, 'd'));
    expect(queue.teamNote(teamsOf(own), 'north')).toMatch(/3 files were added before/);
    const fewer = queue.removed(queue.removed(own, 'a'), 'b');
    expect(queue.teamNote(teamsOf(fewer), 'north')).toMatch(/One file was added before/);
    expect(queue.teamNote(teamsOf(own.slice(3)), 'north')).toMatch(/belong to the team too/);
  });
});
