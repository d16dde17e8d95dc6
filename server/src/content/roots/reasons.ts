import type { Language } from '@vitrine/contract/languages';
import { saySentence, sentence } from '../../platform/language/sentence.ts';

/** Why a scan or one of its files failed. Roots keep these in English, the key of their translations. */
export const scanReasons = {
  rootRemoved: sentence('the root was removed').text,
  ownerInactive: sentence('its owner is not active').text,
  notMounted: sentence('the folder cannot be reached; it may not be mounted').text,
  empty: sentence('the folder is empty; it counts as not mounted').text,
  unreadable: sentence('it may not be read').text,
  pathTooLong: sentence('its path is too long').text,
};

/** Returns a reason in a language (LANGUAGE-8); one that the system has given stays as it is. */
export const sayReason = (language: Language, reason: string): string =>
  saySentence(language, { text: reason, values: {} });
