import { languages } from '@vitrine/contract/languages';
import { type Catalogue, originalOf, parts, readCatalogue, writeCatalogue } from './catalogues.ts';
import type { Message } from './extract.ts';
import { readServerMessages } from './server-texts.ts';
import { readMessages } from './sources.ts';

type Text = Catalogue[string];

const partsOf = (text: string) => (text.match(/\{\w+\}|<\/?\d+\/?>/g) ?? []).sort().join(' ');
const categoriesOf = (language: string) => new Intl.PluralRules(language).resolvedOptions().pluralCategories;

/** Returns what is wrong with one text of a translation. */
function problemsOf(original: string, text: unknown, isPlain = false): string[] {
  if (typeof text !== 'string' || text.trim() === '') return ['is empty'];
  const problems: string[] = [];
  if (partsOf(original) !== partsOf(text)) problems.push('has other placeholders than the original');
  if (/<(\d+)>(?=.*\{\d)(?=.*<\d+\/>).*<\/\1>/.test(text))
    problems.push('nests values: split it into elements of their own');
  if (isPlain) return problems;
  // A text may become the value of an attribute.
  if (text.includes('"')) problems.push('contains a straight double quote');
  if (/[<>]/.test(text.replace(/<\/?\d+\/?>/g, ''))) problems.push('contains markup');
  return problems;
}

/** Returns what is wrong with the translation of a text, which may be a plural. */
function problemsOfText(language: string, message: Message, text: Text | undefined): string[] {
  if (text === undefined) return ['is missing'];
  const original = originalOf(message);
  if (typeof original === 'string') return problemsOf(original, text, message.isPlain);
  if (typeof text === 'string') return ['needs the forms of a plural'];
  return categoriesOf(language).flatMap((category) =>
    text[category] === undefined
      ? [`lacks the plural form “${category}”`]
      : problemsOf(category === 'one' ? (original.one ?? '') : (original.other ?? ''), text[category]).filter(
          // Languages may name the only count in words.
          (problem) =>
            problem !== 'has other placeholders than the original' || partsOf(original.other ?? '') !== '',
        ),
  );
}

/** Returns the problems of a catalogue, each as one line. */
export function checkCatalogue(
  language: string,
  messages: readonly Message[],
  catalogue: Catalogue,
): string[] {
  const keys = new Set(messages.map(({ key }) => key));
  return [
    ...messages.flatMap((message) =>
      problemsOfText(language, message, catalogue[message.key]).map(
        (problem) => `${language}: ${JSON.stringify(message.key)} ${problem}`,
      ),
    ),
    ...Object.keys(catalogue)
      .filter((key) => !keys.has(key))
      .map((key) => `${language}: ${JSON.stringify(key)} is not used`),
  ];
}

/** Returns the catalogue with unused texts removed and, for English, new ones added. */
function tidied(language: string, messages: readonly Message[], catalogue: Catalogue): Catalogue {
  const entries = messages.flatMap((message): [string, Text][] => {
    const text = language === 'en' ? originalOf(message) : catalogue[message.key];
    return text === undefined ? [] : [[message.key, text]];
  });
  return Object.fromEntries(entries);
}

if (import.meta.filename === process.argv[1]) {
  const texts = { '.': await readMessages(), server: readServerMessages() };
  if (process.argv.includes('--write'))
    for (const part of parts)
      for (const language of languages)
        writeCatalogue(language, part, tidied(language, texts[part], readCatalogue(language, part)));
  const problems = parts.flatMap((part) =>
    languages.flatMap((language) => checkCatalogue(language, texts[part], readCatalogue(language, part))),
  );
  for (const problem of problems.slice(0, 20)) console.error(problem);
  const count = texts['.'].length + texts.server.length;
  console.log(`${count} texts in ${languages.length} languages, ${problems.length} problems`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
