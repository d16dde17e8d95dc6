import { CallError, type Client } from '@vitrine/contract/client';
import type { AnswerOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import type { VisitorState } from '@vitrine/contract/page-gate';
import type { Texts } from '@vitrine/contract/texts';
import type { FirstOperations } from '#lib/first-operations.ts';
import { followLanguage } from '#lib/languages/follow.ts';
import { inPageLanguage } from '#lib/translations/shown.ts';

export type Appearance = AnswerOf<Operations['getAppearance']>;

export type PageState = VisitorState & { appearance: Appearance; texts: Texts };

/** Returns the operator’s texts in the language of the page, as far as they are translated. */
function textsInLanguage({ translations, ...texts }: Texts): Texts {
  return { ...texts, ...inPageLanguage({}, translations) };
}

function nobody(error: unknown): null {
  if (error instanceof CallError && error.status === 401) return null;
  throw error;
}

/** Asks the service who is signed in and how the library presents itself. */
export async function askPageState(client: Client<FirstOperations>): Promise<PageState> {
  const [setup, user, appearance] = await Promise.all([
    client.call('getSetupStatus'),
    client.call('getSessionUser').catch(nobody),
    client.call('getAppearance'),
  ]);
  followLanguage(user?.language ?? null);
  return {
    needsSetup: setup.needs_setup,
    needsSetupCode: setup.code_required === true,
    hasDirectory: setup.directory_sign_in === true,
    resetsPasswords: setup.password_reset === true,
    registers: setup.registration === true,
    publicMode: appearance.public_mode_enabled,
    user,
    appearance,
    // Without the operator's texts the page uses its defaults.
    texts: textsInLanguage(appearance.texts ?? {}),
  };
}
