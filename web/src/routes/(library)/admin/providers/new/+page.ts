export const load = () => ({ title: 'Add an identity provider' });
