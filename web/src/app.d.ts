declare module 'virtual:routes' {
  import type { Route } from '@vitrine/contract/client';
  import type { OperationId } from '@vitrine/contract/operations';

  const routes: Record<OperationId, Route>;
  export default routes;
}

declare module 'virtual:first-routes' {
  import type { Route } from '@vitrine/contract/client';

  const routes: Record<keyof import('#lib/first-operations.ts').FirstOperations, Route>;
  export default routes;
}

// The package publishes the types of its light build only under its own name.
declare module 'hls.js/light' {
  import Hls from 'hls.js';
  export default Hls;
}

declare namespace App {
  /** Why a page cannot be shown. `heading` and `back` are set where the page knows better words (`page-data.ts`). */
  interface Error {
    heading?: string;
    back?: { readonly href: string; readonly label: string };
  }

  interface PageState {
    /** How many layers cover the page (`ui/layers.svelte.ts`). */
    layer?: number;
  }

  interface PageData {
    /** The title of the page, without the name of the library, which the root layout adds. Absent on the feed. */
    title?: string;
    visitorState?: {
      readonly appearance: import('#lib/identity/page-state.ts').Appearance;
      /** Absent on the pages of links, which nobody is signed in to. */
      readonly user?: import('@vitrine/contract/identity').SessionUser | null;
      /** The layout that visitors chose in this browser. */
      readonly browserLayout?: import('#lib/posts/sheet.ts').Layout | '';
    };
  }
}
