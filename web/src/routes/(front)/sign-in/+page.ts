export const load = () => ({ title: 'Sign in' });
