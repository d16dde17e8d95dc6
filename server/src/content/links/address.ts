import type { Deps } from '../../core/deps.ts';
import type { HttpFacts } from '../../core/handle.ts';
import { readSite } from '../../core/settings.ts';
import { randomToken } from '../../people/identity/access-tokens.ts';
import { seal, unseal } from '../../people/identity/seal.ts';
import { hashToken } from '../../people/identity/sessions.ts';

/** What tokens of links are sealed for. */
export const LINK_PURPOSE = 'share link';

/** Returns what makes the address of a link from its token: below the public address, or the one of the request. */
async function readAddressOf(
  deps: Pick<Deps, 'db' | 'config'>,
  http: Pick<HttpFacts, 'header'>,
): Promise<(token: string) => string> {
  const { base_url: own } = await readSite(deps);
  const here = http.header('origin') ?? `http://${http.header('host')}`;
  const base = (own ?? here).replace(/\/$/, '');
  return (token) => `${base}/s/${token}`;
}

/** A new token of a link: shown to its creator, and stored as a hash that finds the link and sealed (LINK-2). */
export interface NewAddress {
  token: string;
  url: string;
  tokenHash: Buffer;
  tokenSealed: Buffer;
}

export async function newAddress(
  deps: Pick<Deps, 'db' | 'config' | 'secretKey'>,
  http: Pick<HttpFacts, 'header'>,
): Promise<NewAddress> {
  const token = randomToken();
  const addressOf = await readAddressOf(deps, http);
  return {
    token,
    url: addressOf(token),
    tokenHash: hashToken(token),
    tokenSealed: seal(deps.secretKey, LINK_PURPOSE, token),
  };
}

/** Returns what opens sealed tokens and makes their addresses. */
export async function readSealedAddresses(
  deps: Pick<Deps, 'db' | 'config' | 'secretKey'>,
  http: Pick<HttpFacts, 'header'>,
): Promise<(tokenSealed: Buffer) => string> {
  const addressOf = await readAddressOf(deps, http);
  return (tokenSealed) => addressOf(unseal(deps.secretKey, LINK_PURPOSE, tokenSealed));
}
