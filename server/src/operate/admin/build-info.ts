import { apiVersion } from '@vitrine/contract/operations';
import { getBuildInfo } from '@vitrine/contract/system';
import { handle } from '../../core/handle.ts';
import { readVersion } from '../../platform/version.ts';

/** `GET /system/build-info`: the version of the server and of its interface. */
export const showBuildInfo = handle(getBuildInfo, async () => ({
  status: 200,
  body: { version: readVersion(), api_version: apiVersion },
}));
