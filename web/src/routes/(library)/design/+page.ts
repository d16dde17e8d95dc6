/** Every component in every state (docs/design.md). */
export const load = () => ({ title: 'Design' });
