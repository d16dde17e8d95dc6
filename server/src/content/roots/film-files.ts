import { isFilmName } from '@vitrine/contract/sidecars';
import { kindOf } from '../../media/sniff.ts';
import { MOST_FILM_BYTES } from '../live-photos/pair.ts';
import type { FoundFile } from './store.ts';
import { textOf } from './walk.ts';

/** Returns whether a new file may be the film of a photo beside it, so that it waits until the photo is stored. */
export function mayBeFilm({ path, facts, known }: FoundFile): boolean {
  return (
    known === null &&
    kindOf(facts.mime) === 'video' &&
    facts.sizeBytes <= MOST_FILM_BYTES &&
    isFilmName(textOf(path))
  );
}
