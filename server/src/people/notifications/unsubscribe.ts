import { directionOf, type Language } from '@vitrine/contract/languages';
import { askUnsubscribe, unsubscribeMail } from '@vitrine/contract/notifications';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { readSiteName } from '../../core/settings.ts';
import { escapeHtml } from '../../platform/escape-html.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { formPolicy } from '../../platform/http/security-headers.ts';
import { say } from '../../platform/language/say.ts';
import { seal, unseal } from '../identity/seal.ts';
import { turnMailOff } from './preferences.ts';

const PURPOSE = 'unsubscribe';

/** The address that turns an account's mail off; it needs no other authentication. */
export function unsubscribeAddress(secretKey: string, baseUrl: string, userRef: number): string {
  const token = seal(secretKey, PURPOSE, String(userRef)).toString('base64url');
  return `${baseUrl}/api/v1/mail/unsubscribe?token=${token}`;
}

type KeyDeps = Pick<Deps, 'secretKey' | 'formerSecretKeys'>;

/** Returns the account in an address, which a former key may have sealed; throws 401 for an invalid one. */
function accountOf({ secretKey, formerSecretKeys }: KeyDeps, token = ''): number {
  for (const key of [secretKey, ...formerSecretKeys]) {
    try {
      return Number(unseal(key, PURPOSE, Buffer.from(token, 'base64url')));
    } catch {
      // It may be sealed with an earlier one.
    }
  }
  throw refuse('unsubscribe-address-invalid');
}

function page(language: Language, siteName: string, body: string) {
  const name = escapeHtml(siteName);
  const html = `<!doctype html><html lang="${language}" dir="${directionOf(language)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${name}</title></head><body style="font-family:sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem"><h1>${name}</h1>${body}</body></html>`;
  return {
    status: 200 as const,
    body: Buffer.from(html),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': formPolicy,
    },
  };
}

/** Programs that open every address in a mail must not unsubscribe: that takes a press of the button. */
export const showUnsubscribeForm = handle(askUnsubscribe, async (deps, { query, http }) => {
  accountOf(deps, query.token);
  const language = http.language();
  const question = escapeHtml(say(language, 'Stop all mail from this library?'));
  const button = escapeHtml(say(language, 'Turn mail off'));
  const form = `<form method="post"><p>${question}</p><button>${button}</button></form>`;
  return page(language, await readSiteName(deps.db), form);
});

export const unsubscribe = handle(unsubscribeMail, async (deps, { query, http }) => {
  if (!(await turnMailOff(deps.db, accountOf(deps, query.token)))) throw notFound();
  const language = http.language();
  const text = say(language, 'Mail is off. It can be turned on again in your settings.');
  return page(language, await readSiteName(deps.db), `<p>${escapeHtml(text)}</p>`);
});
