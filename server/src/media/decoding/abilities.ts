/** What a process can do, as it has found out itself. */
export interface Abilities {
  uid: number;
  /** Whether it has an effective Linux capability. */
  isCapable: boolean;
  /** Whether programs with the set-user-ID bit give it other rights. */
  canGainRights: boolean;
  hasNetwork: boolean;
  /** Those of the given files that it can read. */
  readable: string[];
  /** Those of the given directories in which it can create a file. */
  writable: string[];
}

/** Prints what the process can do. Its arguments are files, an empty one, and directories. */
export const examination = `
  while read -r key value _; do
    case "$key" in Uid:|CapEff:|NoNewPrivs:) echo "$key $value";; esac
  done </proc/self/status
  while IFS=' :' read -r name _; do
    case "$name" in Inter-*|face|lo|"") ;; *) echo "Network: $name";; esac
  done </proc/self/net/dev
  while [ -n "$1" ]; do [ -r "$1" ] && echo "Readable: $1"; shift; done
  shift
  for directory in "$@"; do
    probe=$directory/.vitrine-probe-$$
    if (: >"$probe") 2>/dev/null; then rm -f "$probe"; echo "Writable: $directory"; fi
  done`;

/** Reads what `examination` has printed. */
export function readAbilities(output: string): Abilities {
  const values = (key: string) =>
    output.split('\n').flatMap((line) => (line.startsWith(`${key}: `) ? [line.slice(key.length + 2)] : []));
  return {
    uid: Number(values('Uid')[0] ?? Number.NaN),
    isCapable: !/^0+$/.test(values('CapEff')[0] ?? ''),
    canGainRights: values('NoNewPrivs')[0] !== '1',
    hasNetwork: values('Network').length > 0,
    readable: values('Readable'),
    writable: values('Writable'),
  };
}
