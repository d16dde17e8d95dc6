import type { Config } from '../config.ts';

/** Shorter secrets would hide ordinary words. */
const LEAST_CHARACTERS = 6;

/** Returns the passwords in addresses, as written and decoded. */
function passwordsIn(address: string | null): string[] {
  const written = address === null ? undefined : /^[^:]+:\/\/[^:@/]*:(.*)@/.exec(address)?.[1];
  if (written === undefined) return [];
  try {
    return [written, decodeURIComponent(written)];
  } catch {
    return [written];
  }
}

/** Returns every secret of the settings, which the log must not contain (RUN-10). */
export function secretsOf(config: Config): string[] {
  const { admin, mail, s3, backupS3, tracing, identityProviders } = config;
  const found = [
    admin?.password,
    config.scrambleKey,
    config.secretKey,
    config.metricsToken,
    config.backupPassphrase,
    mail.server?.password,
    s3?.secretAccessKey,
    backupS3?.secretAccessKey,
    config.oidc?.clientSecret,
    ...Object.values(tracing?.headers ?? {}),
    ...identityProviders.map((provider) => (provider.name === 'ldap' ? provider.bind?.password : null)),
    ...[config.databaseUrl, config.databaseDirectUrl, config.databaseReplicaUrl].flatMap(passwordsIn),
  ];
  const secrets = found.filter((secret) => typeof secret === 'string');
  return [...new Set(secrets.filter((secret) => secret.length >= LEAST_CHARACTERS))];
}
