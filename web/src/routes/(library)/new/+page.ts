export const load = () => ({ title: 'New post' });
