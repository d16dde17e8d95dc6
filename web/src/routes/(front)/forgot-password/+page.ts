export const load = () => ({ title: 'Forgot your password?' });
