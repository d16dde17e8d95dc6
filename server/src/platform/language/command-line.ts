import { type Language, languageFor } from '@vitrine/contract/languages';

/** Returns the language of a locale of POSIX, such as `de_DE.UTF-8`; undefined for `C` and one without texts. */
function languageOfLocale(locale: string): Language | undefined {
  const [name = ''] = locale.split(/[.@]/);
  return languageFor(name.replaceAll('_', '-'));
}

/** Returns the language in which commands print: that of LC_ALL, LC_MESSAGES or LANG, or English (LANGUAGE-7). */
export function languageOfCommands(env: NodeJS.ProcessEnv): Language {
  const locale = env.LC_ALL || env.LC_MESSAGES || env.LANG || 'C';
  return languageOfLocale(locale) ?? 'en';
}
