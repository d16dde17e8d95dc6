import type { Language } from '@vitrine/contract/languages';
import { withoutPaths } from '../../media/faults.ts';
import { say } from '../../platform/language/say.ts';
import { type Sentence, saySentence, sentence } from '../../platform/language/sentence.ts';

/** Plain explanations of common errors, by their message; the first match is used. */
const reasons: readonly [error: RegExp, reason: Sentence][] = [
  [/ENOSPC|no space left on device/i, sentence('The disk is full.')],
  [/EDQUOT|disk quota exceeded/i, sentence('The disk quota of the service is used up.')],
  [/EROFS|read-only file system/i, sentence('The disk cannot be written to.')],
  [/EACCES|EPERM|permission denied/i, sentence('The service may not read or write one of its files.')],
  [/ENOENT|no such file or directory/i, sentence('A file of the library is missing. The doctor names it.')],
  [/EIO|input\/output error/i, sentence('The disk reported an error while a file was read or written.')],
  [/EMFILE|ENFILE|too many open files/i, sentence('The service has too many files open.')],
  [
    /the database is not available|Connection terminated|ECONNRESET/,
    sentence('The database did not answer.'),
  ],
  [/statement timeout|canceling statement/i, sentence('The database took too long for a statement.')],
  [/deadlock detected|could not serialize/i, sentence('Concurrent changes conflicted; try the job again.')],
  [/ECONNREFUSED/, sentence('A required server refused the connection.')],
  [
    /ETIMEDOUT|Greeting never received|Connection timeout/i,
    sentence('A required server did not answer in time.'),
  ],
  [/ENOTFOUND|EAI_AGAIN/, sentence('The name of a required server could not be resolved.')],
  [
    /EAUTH|Invalid login|authentication failed/i,
    sentence('The mail server refused the name or the password.'),
  ],
  [
    /decoder process ended with SIGKILL/,
    sentence('The process that reads files was killed, possibly because memory ran out.'),
  ],
  [
    /decoder process ended|decoders are closed/,
    sentence('The process that reads files ended while it worked.'),
  ],
];

/** Maximum length of an unknown error's first line, shown as the reason. */
const LONGEST_REASON = 200;

/** Returns a text as a sentence: with a capital, and with a full stop unless it ends otherwise. */
const asSentence = (text: string): string =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`.replace(/(?<![.!?…。])$/, '.');

/** Returns why the last attempt of a job failed, in one sentence in a language, or null when none failed. */
export function reasonIn(language: Language, error: string | null): string | null {
  if (error === null) return null;
  const known = reasons.find(([pattern]) => pattern.test(error));
  if (known !== undefined) return saySentence(language, known[1]);
  const [first = ''] = error.split('\n', 1);
  const line = withoutPaths(first.replace(/^(?:[A-Z]\w*)?Error:\s*/, '')).trim();
  if (line === '') return say(language, 'The job failed without an error message.');
  const cut = line.length <= LONGEST_REASON ? line : `${line.slice(0, LONGEST_REASON - 1).toWellFormed()}…`;
  // A message of any program, which may look like a stored form.
  return asSentence(saySentence(language, { text: cut, values: {} }));
}
