import type { Language } from '@vitrine/contract/languages';
import { say } from '../platform/language/say.ts';
import { type Sentence, saySentence, sentence } from '../platform/language/sentence.ts';

interface CommandHelp {
  /** How the command is called; one line for each form. */
  forms: readonly string[];
  /** What it does, in one line of the list of commands. */
  does: Sentence;
  /** Options, shown by `--help` of the command. */
  options: readonly (readonly [option: string, does: Sentence])[];
  /** Hints and exit codes below the options. */
  notes: readonly Sentence[];
}

const keyFile = [
  '--key-file FILE',
  sentence('the passphrase of encrypted backups, instead of VITRINE_BACKUP_PASSPHRASE'),
] as const;

const commands: Readonly<Record<string, CommandHelp>> = {
  start: {
    forms: ['vitrine start'],
    does: sentence('serve the library, with a worker inside; creates it if there is none'),
    options: [],
    notes: [
      sentence('All settings are environment variables or lines of vitrine.env; README.md lists them.'),
    ],
  },
  worker: {
    forms: ['vitrine worker'],
    does: sentence('work on jobs alone'),
    options: [],
    notes: [
      sentence('VITRINE_JOBS names the kinds of jobs, VITRINE_WORKER_PORT the port for health and metrics.'),
      sentence('The library may be served by other processes.'),
    ],
  },
  import: {
    forms: ['vitrine import DIR [options]'],
    does: sentence('make assets of every file below DIR'),
    options: [
      ['--user NAME', sentence('owner of the assets; the oldest administrator by default')],
      ['--post', sentence('make a post of each folder')],
      ['--collections', sentence('make a collection of each folder')],
      ['--no-stacks', sentence('do not stack raw files with the photos of their names')],
      [
        '--field CODE=PATTERN',
        sentence('take a value from the path, such as {example}; may be repeated', {
          example: 'event={value}/',
        }),
      ],
      ['--sensitivity LEVEL', sentence('posts, org, public or restricted')],
      ['--dry-run', sentence('print what each folder would give, and write nothing')],
    ],
    notes: [sentence('Exit code: 0, 1 if nothing could be done, 3 if something was left out.')],
  },
  'import-users': {
    forms: ['vitrine import-users FILE.csv [options]', 'vitrine import-users --mysql URL [options]'],
    does: sentence('take the accounts of an earlier system'),
    options: [
      ['--table NAME', sentence('table of the database; user by default')],
      ['--role GROUP=ROLE', sentence('role of a group of users; may be repeated')],
      ['--dry-run', sentence('print the report without writing accounts')],
    ],
    notes: [sentence('Exit code: 0, 1 if nothing could be done, 2 if rows were refused.')],
  },
  'import-resourcespace': {
    forms: [
      'vitrine import-resourcespace --dump FILE --filestore DIR [options]',
      'vitrine import-resourcespace --database URL --filestore DIR [options]',
    ],
    does: sentence('take accounts, files, values, rights and collections of a ResourceSpace'),
    options: [
      ['--dump FILE', sentence('a dump of mysqldump or mariadb-dump, also compressed with gzip')],
      [
        '--database URL',
        sentence('mysql://user:password@host/database; MYSQL_PWD has the password otherwise'),
      ],
      ['--filestore DIR', sentence('the file store of ResourceSpace; it is only read')],
      ['--syncdir DIR', sentence('the folder of StaticSync')],
      ['--config FILE', sentence('settings of config.php as JSON (docs/moving-in.md)')],
      ['--scramble-key KEY', sentence('$scramble_key of config.php')],
      ['--mapping FILE', sentence('what becomes what; --dry-run writes it if it does not exist')],
      ['--dry-run', sentence('say what would become what, and import nothing')],
      ['--report FILE', sentence('write the report as JSON')],
      [
        '--system NAME',
        sentence('a name for the installation, to import from several; resourcespace by default'),
      ],
    ],
    notes: [sentence('Exit code: 0 if everything was imported, 3 if something was left out, 1 on failure.')],
  },
  'import-immich': {
    forms: ['vitrine import-immich URL [options]'],
    does: sentence('take the files, albums, tags and links of one account of an Immich'),
    options: [
      ['--api-key KEY', sentence('a key of that account; otherwise IMMICH_API_KEY')],
      ['--user NAME', sentence('owner of what is imported; the oldest administrator by default')],
      ['--dry-run', sentence('say what would become what, and import nothing')],
      ['--report FILE', sentence('write the report as JSON')],
    ],
    notes: [sentence('Exit code: 0 if everything was imported, 3 if something was left out, 1 on failure.')],
  },
  export: {
    forms: ['vitrine export DIR [--user NAME]'],
    does: sentence(
      'write the files, metadata, posts and comments of the library to DIR, in a form that other programs read',
    ),
    options: [['--user NAME', sentence('only what belongs to this person')]],
    notes: [
      sentence(
        'DIR is new or empty, or has an earlier export, of which only what has changed is written again.',
      ),
      sentence('Exit code: 0, 1 on failure, 3 if files could not be exported.'),
    ],
  },
  'import-export': {
    forms: ['vitrine import-export DIR'],
    does: sentence('restore an export of a library into a new or empty one, with the same ids and values'),
    options: [],
    notes: [
      sentence('It can be stopped and run again. Accounts of the new library keep their passwords.'),
      sentence('Exit code: 0, 1 if nothing was imported, 3 if files are missing.'),
    ],
  },
  roots: {
    forms: ['vitrine roots scan [PATH]'],
    does: sentence('compare folders left in place with the library: all of them, or the one at PATH'),
    options: [],
    notes: [
      sentence(
        'The service may run; it makes the previews. Folders are named on the page of administrators.',
      ),
      sentence('Exit code: 0, 1 if a folder could not be scanned, 3 if files in it could not be read.'),
    ],
  },
  doctor: {
    forms: ['vitrine doctor', 'vitrine doctor --bytes [--repair] [--after HASH]'],
    does: sentence('say what is wrong with the library and how to mend it'),
    options: [
      ['--bytes', sentence('read every stored file and name what is lost')],
      ['--repair', sentence('with --bytes: render missing and damaged previews again')],
      ['--after HASH', sentence('with --bytes: go on where an earlier run stopped')],
    ],
    notes: [sentence('Exit code: 0, 1 if there is a problem, 2 if it was stopped.')],
  },
  backup: {
    forms: [
      'vitrine backup DIR [--keep N] [--key-file FILE]',
      'vitrine backup list DIR [--key-file FILE]',
      'vitrine backup verify DIR [--at ID] [--key-file FILE]',
    ],
    does: sentence('add a backup to DIR or to s3://BUCKET/PREFIX, list backups, or read every byte of one'),
    options: [
      ['--keep N', sentence('remove all but the newest N backups')],
      ['--at ID', sentence('the backup to verify; the newest by default')],
      keyFile,
    ],
    notes: [
      sentence(
        'Exit code: 0, 1 if there is no backup or it is damaged, 2 if files of the library were lost.',
      ),
    ],
  },
  restore: {
    forms: ['vitrine restore DIR [options]'],
    does: sentence('restore a backup into an empty library'),
    options: [
      ['--data NEW', sentence('the new data directory; VITRINE_DATA by default')],
      ['--at ID', sentence('the backup to restore; the newest by default')],
      ['--skip-damaged', sentence('restore everything but damaged files, and list them')],
      keyFile,
    ],
    notes: [sentence('Exit code: 0, 1 if nothing was restored, 2 if damaged files were left out.')],
  },
  admin: {
    forms: ['vitrine admin reset-password NAME'],
    does: sentence(
      'give an account a temporary password, also when its identity provider or directory is down',
    ),
    options: [],
    notes: [
      sentence(
        'It ends the sessions of the account, lifts a lock, and leaves a second factor on. The service may run.',
      ),
      sentence('The last line is the password. Exit code: 0, 1 if nothing was changed.'),
    ],
  },
  secret: {
    forms: ['vitrine secret rotate [--former FILE]'],
    does: sentence(
      'replace the secret key of a stopped library, and seal every stored secret with the new one',
    ),
    options: [
      [
        '--former FILE',
        sentence('the present key, if VITRINE_SECRET_KEY is the new one; secret.key by default'),
      ],
    ],
    notes: [
      sentence(
        'Without VITRINE_SECRET_KEY, it writes a new key to secret.key. It can be stopped and repeated.',
      ),
      sentence('Exit code: 0, 1 if nothing was changed.'),
    ],
  },
  storage: {
    forms: [
      'vitrine storage check [--content]',
      'vitrine storage move',
      'vitrine storage gc [--grace HOURS] [--dry-run]',
    ],
    does: sentence(
      'compare rows with stored files, move files to where new ones go, or remove those that no row refers to',
    ),
    options: [
      ['--content', sentence('also read and hash originals, subtitles and logos')],
      ['--grace HOURS', sentence('keep files that are younger; 24 by default')],
      ['--dry-run', sentence('only list them')],
    ],
    notes: [sentence('Exit code: 0, 1 if files are missing or wrong, 2 if it was stopped.')],
  },
  upgrade: {
    forms: ['vitrine upgrade --from BIN', 'vitrine upgrade --discard-old'],
    does: sentence('move the embedded database to this PostgreSQL'),
    options: [
      ['--from BIN', sentence('directory of the executables of the former PostgreSQL')],
      ['--discard-old', sentence('remove the former database after an upgrade')],
    ],
    notes: [],
  },
  demo: {
    forms: ['vitrine demo'],
    does: sentence('serve a sample library on its own data directory'),
    options: [],
    notes: [sentence('The directory is demo in the data directory. It can be removed.')],
  },
  schema: {
    forms: ['vitrine schema'],
    does: sentence('write server/schema.sql and the table types from the migrations (for developers)'),
    options: [],
    notes: [sentence('It migrates a temporary database; no library is used.')],
  },
};

/** Lines of two columns, the second of which begins at the same place. */
function columns(rows: readonly (readonly [name: string, text: string])[], least: number): string[] {
  const width = Math.max(least, ...rows.map(([name]) => name.length + 2));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}${text}`);
}

function helpOfCommand(language: Language, { forms, does, options, notes }: CommandHelp): string {
  const [first = '', ...others] = forms;
  const usage = say(language, 'Usage: {form}', { form: first });
  const indent = ' '.repeat(Math.max(0, usage.indexOf('vitrine')));
  const text = saySentence(language, does);
  const rows = options.map(([option, what]) => [option, saySentence(language, what)] as const);
  return [
    usage,
    ...others.map((form) => `${indent}${form}`),
    '',
    `${text.charAt(0).toLocaleUpperCase(language)}${text.slice(1)}`,
    '',
    ...columns(rows, 20),
    ...notes.map((note) => `  ${saySentence(language, note)}`),
  ].join('\n');
}

function helpOfAll(language: Language): string {
  const rows = Object.entries(commands).map(
    ([name, { does }]) => [name, saySentence(language, does)] as const,
  );
  return [
    say(language, 'Usage: {form}', { form: 'vitrine <command>' }),
    '',
    ...columns(rows, 0),
    '',
    say(language, '{command} lists the options of a command.', { command: '`vitrine <command> --help`' }),
    say(
      language,
      '{option} chooses the language of what commands print, which otherwise is that of LC_ALL or LANG.',
      {
        option: '`--lang TAG`',
      },
    ),
  ].join('\n');
}

const isHelp = (arg: string | undefined) => arg === '--help' || arg === '-h';

/** Returns the help in a language that these arguments ask for; null when they ask for none. Without a command, it lists all. */
export function helpFor(args: readonly string[], language: Language): string | null {
  const [first, ...rest] = args;
  if (first === undefined || first === 'help' || isHelp(first)) {
    const named = commands[rest[0] ?? ''];
    return named === undefined ? helpOfAll(language) : helpOfCommand(language, named);
  }
  const command = commands[first];
  const end = rest.indexOf('--');
  const options = end === -1 ? rest : rest.slice(0, end);
  return command !== undefined && options.some(isHelp) ? helpOfCommand(language, command) : null;
}
