export const load = () => ({ title: 'Set up' });
