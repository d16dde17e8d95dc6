import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { type Examination, passed, problem } from './check.ts';

const directory: Examination = {
  code: 'directory',
  title: sentence('Directory of accounts'),
  async look({ config: { identityProviders } }) {
    const settings = identityProviders.find((provider) => provider.name === 'ldap');
    if (settings === undefined) return passed(sentence('no LDAP directory is configured'));
    const place = `${settings.host}:${settings.port}`;
    // Only libraries with a directory load the client.
    const { examineDirectory } = await import('../../people/identity/providers/ldap.ts');
    try {
      await examineDirectory(settings);
    } catch (error) {
      return problem(
        sentence('nobody can sign in with the LDAP directory {place}: {reason}', {
          place,
          reason: sentenceOfError(error),
        }),
        sentence('Check the directory and the settings VITRINE_LDAP_*.'),
      );
    }
    return passed(sentence('{place} answers searches below {base}', { place, base: settings.searchBase }));
  },
};

export const directoryExaminations = [directory];
