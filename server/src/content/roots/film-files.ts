import { kindOf } from '../../media/sniff.ts';
import { isFilm } from '../live-photos/pair.ts';
import type { FoundFile } from './store.ts';
import { textOf } from './walk.ts';

/** The film of a live photo is smaller. */
export const MOST_FILM_BYTES = 256 * 1024 * 1024;

/** Returns whether a new file may be the film of a photo beside it, so that it waits until the photo is stored. */
export function mayBeFilm({ path, facts, known }: FoundFile): boolean {
  return (
    known === null &&
    kindOf(facts.mime) === 'video' &&
    facts.sizeBytes <= MOST_FILM_BYTES &&
    isFilm({ name: textOf(path) })
  );
}
