declare module 'virtual:routes' {
  import type { Route } from '@vitrine/contract/client';
  import type { OperationId } from '@vitrine/contract/operations';

  const routes: Record<OperationId, Route>;
  export default routes;
}

// The package publishes the types of its light build only under its own name.
declare module 'hls.js/light' {
  import Hls from 'hls.js';
  export default Hls;
}
