interface CommandHelp {
  /** How the command is called; one line for each form. */
  forms: readonly string[];
  /** What it does, in one line of the list of commands. */
  does: string;
  /** Options and exit codes, shown by `--help` of the command. */
  details: readonly string[];
}

const keyFile =
  '--key-file FILE     the passphrase of encrypted backups, instead of VITRINE_BACKUP_PASSPHRASE';

const commands: Readonly<Record<string, CommandHelp>> = {
  start: {
    forms: ['vitrine start'],
    does: 'serve the library, with a worker inside; creates it if there is none',
    details: ['All settings are environment variables or lines of vitrine.env; README.md lists them.'],
  },
  worker: {
    forms: ['vitrine worker'],
    does: 'work on jobs alone',
    details: [
      'VITRINE_JOBS names the kinds of jobs, VITRINE_WORKER_PORT the port for health and metrics.',
      'The library may be served by other processes.',
    ],
  },
  import: {
    forms: ['vitrine import DIR [options]'],
    does: 'make assets of every file below DIR',
    details: [
      '--user NAME         owner of the assets; the oldest administrator by default',
      '--post              make a post of each folder',
      '--collections       make a collection of each folder',
      '--no-stacks         do not stack raw files with the photos of their names',
      '--field CODE=PATTERN take a value from the path, such as event={value}/; may be repeated',
      '--sensitivity LEVEL posts, org, public or restricted',
      '--dry-run           print what each folder would give, and write nothing',
      'Exit code: 0, 1 if nothing could be done, 3 if something was left out.',
    ],
  },
  'import-users': {
    forms: ['vitrine import-users FILE.csv [options]', 'vitrine import-users --mysql URL [options]'],
    does: 'take the accounts of an earlier system',
    details: [
      '--table NAME        table of the database; user by default',
      '--role GROUP=ROLE   role of a group of users; may be repeated',
      '--dry-run           print the report without writing accounts',
      'Exit code: 0, 1 if nothing could be done, 2 if rows were refused.',
    ],
  },
  'import-resourcespace': {
    forms: [
      'vitrine import-resourcespace --dump FILE --filestore DIR [options]',
      'vitrine import-resourcespace --database URL --filestore DIR [options]',
    ],
    does: 'take accounts, files, values, rights and collections of a ResourceSpace',
    details: [
      '--dump FILE         a dump of mysqldump or mariadb-dump, also compressed with gzip',
      '--database URL      mysql://user:password@host/database; MYSQL_PWD has the password otherwise',
      '--filestore DIR     the file store of ResourceSpace; it is only read',
      '--syncdir DIR       the folder of StaticSync',
      '--config FILE       settings of config.php as JSON (docs/moving-in.md)',
      '--scramble-key KEY  $scramble_key of config.php',
      '--mapping FILE      what becomes what; --dry-run writes it if it does not exist',
      '--dry-run           say what would become what, and import nothing',
      '--report FILE       write the report as JSON',
      '--system NAME       a name for the installation, to import from several; resourcespace by default',
      'Exit code: 0 if everything was imported, 3 if something was left out, 1 on failure.',
    ],
  },
  'import-immich': {
    forms: ['vitrine import-immich URL [options]'],
    does: 'take the files, albums, tags and links of one account of an Immich',
    details: [
      '--api-key KEY       a key of that account; otherwise IMMICH_API_KEY',
      '--user NAME         owner of what is imported; the oldest administrator by default',
      '--dry-run           say what would become what, and import nothing',
      '--report FILE       write the report as JSON',
      'Exit code: 0 if everything was imported, 3 if something was left out, 1 on failure.',
    ],
  },
  export: {
    forms: ['vitrine export DIR [--user NAME]'],
    does: 'write the files, metadata, posts and comments of the library to DIR, in a form that other programs read',
    details: [
      'DIR is new or empty, or has an earlier export, of which only what has changed is written again.',
      '--user NAME         only what belongs to this person',
      'Exit code: 0, 1 on failure, 3 if files could not be exported.',
    ],
  },
  'import-export': {
    forms: ['vitrine import-export DIR'],
    does: 'restore an export of a library into a new or empty one, with the same ids and values',
    details: [
      'It can be stopped and run again. Accounts of the new library keep their passwords.',
      'Exit code: 0, 1 if nothing was imported, 3 if files are missing.',
    ],
  },
  roots: {
    forms: ['vitrine roots scan [PATH]'],
    does: 'compare folders left in place with the library: all of them, or the one at PATH',
    details: [
      'The service may run; it makes the previews. Folders are named on the page of administrators.',
      'Exit code: 0, 1 if a folder could not be scanned, 3 if files in it could not be read.',
    ],
  },
  doctor: {
    forms: ['vitrine doctor', 'vitrine doctor --bytes [--repair] [--after HASH]'],
    does: 'say what is wrong with the library and how to mend it',
    details: [
      '--bytes             read every stored file and name what is lost',
      '--repair            with --bytes: render missing and damaged previews again',
      '--after HASH        with --bytes: go on where an earlier run stopped',
      'Exit code: 0, 1 if there is a problem, 2 if it was stopped.',
    ],
  },
  backup: {
    forms: [
      'vitrine backup DIR [--keep N] [--key-file FILE]',
      'vitrine backup list DIR [--key-file FILE]',
      'vitrine backup verify DIR [--at ID] [--key-file FILE]',
    ],
    does: 'add a backup to DIR or to s3://BUCKET/PREFIX, list backups, or read every byte of one',
    details: [
      '--keep N            remove all but the newest N backups',
      '--at ID             the backup to verify; the newest by default',
      keyFile,
      'Exit code: 0, 1 if there is no backup or it is damaged, 2 if files of the library were lost.',
    ],
  },
  restore: {
    forms: ['vitrine restore DIR [options]'],
    does: 'restore a backup into an empty library',
    details: [
      '--data NEW          the new data directory; VITRINE_DATA by default',
      '--at ID             the backup to restore; the newest by default',
      '--skip-damaged      restore everything but damaged files, and list them',
      keyFile,
      'Exit code: 0, 1 if nothing was restored, 2 if damaged files were left out.',
    ],
  },
  admin: {
    forms: ['vitrine admin reset-password NAME'],
    does: 'give an account a temporary password, also when its identity provider or directory is down',
    details: [
      'It ends the sessions of the account, lifts a lock, and leaves a second factor on. The service may run.',
      'The last line is the password. Exit code: 0, 1 if nothing was changed.',
    ],
  },
  secret: {
    forms: ['vitrine secret rotate [--former FILE]'],
    does: 'replace the secret key of a stopped library, and seal every stored secret with the new one',
    details: [
      '--former FILE       the present key, if VITRINE_SECRET_KEY is the new one; secret.key by default',
      'Without VITRINE_SECRET_KEY, it writes a new key to secret.key. It can be stopped and repeated.',
      'Exit code: 0, 1 if nothing was changed.',
    ],
  },
  storage: {
    forms: [
      'vitrine storage check [--content]',
      'vitrine storage move',
      'vitrine storage gc [--grace HOURS] [--dry-run]',
    ],
    does: 'compare rows with stored files, move files to where new ones go, or remove those that no row refers to',
    details: [
      '--content           also read and hash originals, subtitles and logos',
      '--grace HOURS       keep files that are younger; 24 by default',
      '--dry-run           only list them',
      'Exit code: 0, 1 if files are missing or wrong, 2 if it was stopped.',
    ],
  },
  upgrade: {
    forms: ['vitrine upgrade --from BIN', 'vitrine upgrade --discard-old'],
    does: 'move the embedded database to this PostgreSQL',
    details: [
      '--from BIN          directory of the executables of the former PostgreSQL',
      '--discard-old       remove the former database after an upgrade',
    ],
  },
  demo: {
    forms: ['vitrine demo'],
    does: 'serve a sample library on its own data directory',
    details: ['The directory is demo in the data directory. It can be removed.'],
  },
  schema: {
    forms: ['vitrine schema'],
    does: 'write server/schema.sql and the table types from the migrations (for developers)',
    details: ['It migrates a temporary database; no library is used.'],
  },
};

function helpOfCommand({ forms, does, details }: CommandHelp): string {
  const [first = '', ...others] = forms;
  const usage = [`Usage: ${first}`, ...others.map((form) => `       ${form}`)];
  const sentence = `${does.charAt(0).toUpperCase()}${does.slice(1)}.`;
  return [...usage, '', sentence, '', ...details.map((line) => `  ${line}`)].join('\n');
}

function helpOfAll(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length)) + 2;
  const lines = Object.entries(commands).map(([name, { does }]) => `  ${name.padEnd(width)}${does}`);
  return ['Usage: vitrine <command>', '', ...lines, '', '`vitrine <command> --help` lists its options.'].join(
    '\n',
  );
}

const isHelp = (arg: string | undefined) => arg === '--help' || arg === '-h';

/** Returns the help that these arguments ask for; null when they ask for none. Without a command, it lists all. */
export function helpFor(args: readonly string[]): string | null {
  const [first, ...rest] = args;
  if (first === undefined || first === 'help' || isHelp(first)) {
    const named = commands[rest[0] ?? ''];
    return named === undefined ? helpOfAll() : helpOfCommand(named);
  }
  const command = commands[first];
  const end = rest.indexOf('--');
  const options = end === -1 ? rest : rest.slice(0, end);
  return command !== undefined && options.some(isHelp) ? helpOfCommand(command) : null;
}
