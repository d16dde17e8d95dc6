/**
 * Every advisory lock of a library, by what it protects. A number is used once, and keeps its meaning, because processes
 * of two versions run side by side during a rolling restart.
 *
 * A transaction that takes several takes them in this order, then locks of single files and of quotas
 * (`keyedLocks`), and rows last.
 */
export const advisoryLocks = {
  /** One process migrates a database at a time; a backup shares it while it takes its snapshot. */
  migration: 7_431_001,
  /** Shared by every process that serves; taken alone by commands that need a stopped library. */
  presence: 7_431_030,
  /** Held by a backup while it copies files; removing a file shares it. */
  fileRemoval: 7_431_020,
  /** The first administrator is created once. */
  setUp: 7_431_002,
  /** An active account keeps `system.admin`. */
  administrators: 7_431_004,
  /** Names of accounts that have no key yet are keyed by one process. */
  usernameKeys: 7_431_066,
  /** Batches of concurrent imports of users would deadlock. */
  userImport: 7_431_021,
  /** Two imports from ResourceSpace at once would create everything twice. */
  resourceSpaceImport: 7_431_016,
  /** Two imports from Immich at once would create everything twice. */
  immichImport: 7_431_017,
  /** Exports of accounts are written one at a time. */
  accountExports: 7_431_018,
  /** Slugs of new teams are found one at a time. */
  teamSlugs: 7_431_005,
  /** Teams form no cycle. The trigger of migration 0002 takes it too. */
  teamTree: 7_431_003,
  /** Definitions of fields refer to each other. */
  fieldDefinitions: 7_431_011,
  /** Changes of tags on many posts and assets run in order. */
  tagRewrites: 7_431_009,
  /** Changes of the library's language start one at a time. */
  searchLanguage: 7_431_012,
  /** The featured list is read and written as a whole. */
  featuredList: 7_431_010,
  /** The logo and its history, and the release of its bytes. */
  logos: 7_431_006,
  /** Every preview ladder has a version of its own. */
  previewLadder: 7_431_013,
  /** Offers to pair that arrive at once are counted one after the other. */
  pairingOffers: 7_431_014,
  /** Fingerprints of pictures that are stored at the same time find each other. */
  picturePrints: 7_431_015,
} as const;

/** Locks of one thing among many, with the seed of its hash. */
export const keyedLocks = {
  /** The post whose activities are announced; only jobs take it, first. */
  announcedPost: 7434,
  /** Stored bytes by their hash: storing and removing the same bytes exclude each other. Several in the order of hashes. */
  file: 7431,
  /** Writers of bytes that count towards a quota: the person's before the library's. */
  quota: 7433,
} as const;

/** The class of the locks that working processes hold, each with the number of its process. */
export const WORKER_LOCKS = 7431;
