/** What a MySQL server in tests says first. */
export const greeting = {
  protocolVersion: 10,
  serverVersion: '5.7.44',
  connectionId: 1,
  statusFlags: 2,
  characterSet: 45,
  // All capabilities except compression and TLS.
  capabilityFlags: 0xffffff & ~0x20 & ~0x800,
};

/** Describes a column of texts in a response. */
export function textColumn(name: string) {
  return {
    catalog: 'def',
    schema: 'rs',
    table: 't',
    orgTable: 't',
    name,
    orgName: name,
    characterSet: 45,
    columnLength: 65_535,
    columnType: 253,
    flags: 0,
    decimals: 0,
  };
}
