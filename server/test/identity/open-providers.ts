import type { ProviderChange, ProviderCreate } from '@vitrine/contract/providers';
import { afterAll } from 'vitest';
import { visit } from '../support/client.ts';
import type { Account, Library } from '../support/library.ts';
import {
  beginAtForger,
  client,
  openBrowser,
  openForger,
  openProvider,
  type ProvidedPerson,
} from '../support/openid.ts';

/**
 * Adds two providers to a library, which create accounts at the first sign-in: the real one `studio`, with `more`
 * properties, and `forger`, whose responses tests decide. Both close after the tests of the file.
 */
export async function openProviders(library: Library, root: Account, more: Partial<ProviderCreate> = {}) {
  const { address, deps } = library;
  const [provider, forger] = [await openProvider(library, 'studio'), await openForger()];
  afterAll(async () => {
    await provider.close();
    await forger.close();
  });
  const add = (name: string, { issuer }: { issuer: string }, given: Partial<ProviderCreate>) =>
    root.ok('createProvider', {
      body: {
        name,
        kind: 'oidc',
        label: name,
        issuer,
        client_id: client.id,
        client_secret: client.secret,
        creation: 'first_sign_in',
        ...given,
      },
    });
  await add('studio', provider, more);
  await add('forger', forger, {});

  return {
    provider,
    forger,
    /** Changes the provider `studio`. */
    change: (body: ProviderChange) => root.ok('updateProvider', { params: { name: 'studio' }, body }),
    /** Signs a person in at the real provider in a new browser. Returns where that ends, and the browser. */
    async signInAs(person: ProvidedPerson | null, query = '', browser = openBrowser(library)) {
      provider.person = person;
      const page = await browser.follow(`${address}/api/v1/auth/oidc/studio/start${query}`);
      const token = browser.cookie(address, 'user');
      return { page, browser, token, visitor: visit(address, {}, token) };
    },
    /** Signs in at the forger, whose page does nothing but redirect. */
    async signInAtForger(browser = openBrowser(library)) {
      const page = await browser.follow(await beginAtForger(library, forger, browser));
      return { page, browser, visitor: visit(address, {}, browser.cookie(address, 'user')) };
    },
    accountOf: (username: string) =>
      deps.db
        .selectFrom('users as u')
        .innerJoin('roles as r', 'r.id', 'u.role_id')
        .select(['u.ref', 'u.fullname', 'u.email', 'r.code as role', 'u.status'])
        .where('u.username', '=', username)
        .executeTakeFirst(),
  };
}
