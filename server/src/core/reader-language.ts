import type { Language } from '@vitrine/contract/languages';
import type { Caller } from '../access/caller.ts';
import { preferredLanguage } from '../platform/language/preferred.ts';
import type { HttpFacts } from './handle.ts';

/** Returns the language of the caller's preferences; without one, that of the pages that the client shows (LANGUAGE-1). */
export function readerLanguage(caller: Caller, http: Pick<HttpFacts, 'language'>): Language {
  const preferred = caller.kind === 'user' ? preferredLanguage(caller.account.preferences) : null;
  return preferred ?? http.language();
}
