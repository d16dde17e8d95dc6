import { type Examination, passed, problem } from './check.ts';

const directory: Examination = {
  code: 'directory',
  title: 'Directory of accounts',
  async look({ config: { identityProviders } }) {
    const settings = identityProviders.find((provider) => provider.name === 'ldap');
    if (settings === undefined) return passed('no LDAP directory is configured');
    const place = `${settings.host}:${settings.port}`;
    // Only libraries with a directory load the client.
    const { examineDirectory } = await import('../../people/identity/providers/ldap.ts');
    try {
      await examineDirectory(settings);
    } catch (error) {
      return problem(
        `nobody can sign in with the LDAP directory ${place}: ${error instanceof Error ? error.message : error}`,
        'Check the directory and the settings VITRINE_LDAP_*.',
      );
    }
    return passed(`${place} answers searches below ${settings.searchBase}`);
  },
};

export const directoryExaminations = [directory];
