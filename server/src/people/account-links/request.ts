import type { Language } from '@vitrine/contract/languages';
import { requestPasswordReset } from '@vitrine/contract/password-reset';
import { resendVerification } from '@vitrine/contract/registration';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { enqueue } from '../../core/job-table.ts';
import { seal } from '../identity/seal.ts';
import { sendsLinks } from '../mail/links.ts';
import { keyOfText } from '../mail/mail-counts.ts';
import type { LinkPurpose } from './links.ts';

/** What names in jobs are sealed for. */
export const LOGIN_PURPOSE = 'login';

/**
 * Enqueues the search for the accounts of a name, so that the request takes the same time for every name (RESET-1). The name
 * is sealed, because it may be a password typed into the wrong field.
 */
async function findLater(deps: Deps, purpose: LinkPurpose, login: string, language: Language): Promise<void> {
  if (!(await sendsLinks(deps))) return;
  const sealed = seal(deps.secretKey, LOGIN_PURPOSE, login).toString('base64');
  const key = `login:${purpose}:${keyOfText(deps, login)}`;
  await enqueue(deps.db, 'mail-links-of-name', { purpose, sealed, language }, { key });
}

/** RESET-1. */
export const requestReset = handle(requestPasswordReset, async (deps, { body, http }) => {
  await findLater(deps, 'password_reset', body.login, http.language());
  return { status: 202, body: {} };
});

/** EMAIL-5. */
export const requestVerification = handle(resendVerification, async (deps, { body, http }) => {
  await findLater(deps, 'verify_email', body.login, http.language());
  return { status: 202, body: {} };
});
