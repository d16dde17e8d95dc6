declare module 'virtual:routes' {
  import type { Route } from '@vitrine/contract/client';
  import type { OperationId } from '@vitrine/contract/operations';

  const routes: Record<OperationId, Route>;
  export default routes;
}
