import { describe, expect, it } from 'vitest';
import { copyNote, nameNote } from '#lib/upload/notes.ts';
import * as queue from '#lib/upload/queue.ts';

const three = queue.added(
  [],
  ['a', 'b', 'c'].map((id) => ({ id, name: `${id}.jpg`, size: 100 })),
);

const sent = (id: string, type = 1, extension: string | null = null) => ({
  id,
  type,
  sensitivity: 'posts' as const,
  extension,
});

function at(items: queue.UploadQueue, id: string) {
  return items.find((item) => item.id === id);
}

describe('subtitles among the files', () => {
  const files = (...names: string[]) =>
    queue.added(
      [],
      names.map((name) => ({ id: name, name, size: 1 })),
    );

  it('are ordinary files beside a picture or a failed video', () => {
    const picture = queue.finished(queue.started(files('a.jpg', 'a.srt'), 'a.jpg'), 'a.jpg', sent('a', 1));
    expect(queue.nextToStart(picture, 5)).toEqual(['a.srt']);
    const broken = queue.failed(queue.started(files('a.mp4', 'a.srt'), 'a.mp4'), 'a.mp4', 'broken');
    expect(queue.nextToStart(broken, 5)).toEqual(['a.srt']);
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
  it('retries a failed file from the start and clears its error', () => {
    const lost = queue.failed(queue.progressed(queue.started(three, 'b'), 'b', 50), 'b', 'too large');
    expect(at(lost, 'b')).toMatchObject({ state: 'failed', error: 'too large' });
    expect(queue.nextToStart(lost, 3)).toEqual(['a', 'c']);
    expect(at(queue.retried(lost, 'b'), 'b')).toEqual(at(three, 'b'));
  });

  it('returns the assets in displayed order, without failed ones', () => {
    let items: queue.UploadQueue = three;
    for (const id of ['a', 'b', 'c']) items = queue.started(items, id);
    items = queue.finished(items, 'c', sent('asset-c'));
    items = queue.finished(items, 'a', sent('asset-a'));
    items = queue.failed(items, 'b', 'broken');
    expect(queue.assetIdsOf(queue.moved(items, 'c', 0))).toEqual(['asset-c', 'asset-a']);
    expect(queue.countsOf(items)).toEqual({ total: 3, done: 2, failed: 1, unfinished: 0 });
  });

  it('assigns only newly added files to a team', () => {
    const own = queue.added(three, [{ id: 'd', name: 'd.jpg', size: 1 }], 'north');
    expect(at(queue.retried(queue.failed(queue.started(own, 'd'), 'd', 'broken'), 'd'), 'd')).toEqual(
      at(own, 'd'),
    );
    expect(queue.teamNote(own, 'north')).toMatch(/3 files were added before/);
    expect(queue.teamNote(queue.removed(queue.removed(own, 'a'), 'b'), 'north')).toMatch(
      /One file was added before/,
    );
    expect(queue.teamNote(own.slice(3), 'north')).toMatch(/belong to the team too/);
  });
});
