import type { FastifyBaseLogger } from 'fastify';
import type { IdentityProviders, RegisteredProvider } from '../../../core/identity-provider.ts';
import type { LdapSettings, ProviderSettings } from '../../../core/identity-provider-settings.ts';
import { openLdap } from './ldap.ts';

function isOnThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

function warnOfOpenPasswords({ host, security }: LdapSettings, log: Pick<FastifyBaseLogger, 'warn'>): void {
  if (security !== 'none' || isOnThisMachine(host)) return;
  log.warn({ host }, 'passwords go to the directory unencrypted: use ldaps:// or VITRINE_LDAP_STARTTLS=on');
}

/** Creates the registered identity providers by name. Connects on the first sign-in only. */
export function openIdentityProviders(
  settings: readonly ProviderSettings[],
  log: Pick<FastifyBaseLogger, 'warn'>,
): IdentityProviders {
  return new Map<string, RegisteredProvider>(
    settings.map((provider) => {
      if (provider.name !== 'ldap') return [provider.name, 'not set up'];
      warnOfOpenPasswords(provider, log);
      return [provider.name, openLdap(provider)];
    }),
  );
}
