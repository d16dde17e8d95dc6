import { oneOf, type SettingSource, wholeNumber } from './setting-source.ts';

/** What peers may be and cause. */
export interface FederationSettings {
  /** Whether peers may have private addresses, such as those of a studio's own network. */
  privateAddresses: boolean;
  /** How many bytes of originals fetched from peers are kept. */
  cacheBytes: number;
  /** Bounds of the work that a peer can cause (FED-95). */
  catchUpPages: number;
  catchUpSeconds: number;
  catchUpIds: number;
  resendSeconds: number;
  renditionBytes: number;
  openOffers: number;
  openOffersPerAddress: number;
}

export const federationSettingNames = [
  'VITRINE_FEDERATION_CACHE_BYTES',
  'VITRINE_FEDERATION_PRIVATE_ADDRESSES',
  'VITRINE_PEER_CATCH_UP_IDS',
  'VITRINE_PEER_CATCH_UP_PAGES',
  'VITRINE_PEER_CATCH_UP_SECONDS',
  'VITRINE_PEER_OFFERS',
  'VITRINE_PEER_OFFERS_PER_ADDRESS',
  'VITRINE_PEER_RENDITION_BYTES',
  'VITRINE_PEER_RESEND_SECONDS',
] as const;

/** Reads the settings of federation. */
export function readFederationSettings(
  source: SettingSource<(typeof federationSettingNames)[number]>,
): FederationSettings {
  return {
    privateAddresses: oneOf(source, 'VITRINE_FEDERATION_PRIVATE_ADDRESSES', 'off', ['on', 'off']) === 'on',
    cacheBytes: wholeNumber(
      source,
      'VITRINE_FEDERATION_CACHE_BYTES',
      10 * 1024 ** 3,
      0,
      Number.MAX_SAFE_INTEGER,
    ),
    catchUpPages: wholeNumber(source, 'VITRINE_PEER_CATCH_UP_PAGES', 1000, 1, 1_000_000),
    catchUpSeconds: wholeNumber(source, 'VITRINE_PEER_CATCH_UP_SECONDS', 60, 1, 3600),
    catchUpIds: wholeNumber(source, 'VITRINE_PEER_CATCH_UP_IDS', 100_000, 1, 10_000_000),
    resendSeconds: wholeNumber(source, 'VITRINE_PEER_RESEND_SECONDS', 60, 0, 86_400),
    renditionBytes: wholeNumber(
      source,
      'VITRINE_PEER_RENDITION_BYTES',
      128 * 1024 ** 2,
      1,
      Number.MAX_SAFE_INTEGER,
    ),
    openOffers: wholeNumber(source, 'VITRINE_PEER_OFFERS', 100, 1, 100_000),
    openOffersPerAddress: wholeNumber(source, 'VITRINE_PEER_OFFERS_PER_ADDRESS', 10, 1, 100_000),
  };
}
