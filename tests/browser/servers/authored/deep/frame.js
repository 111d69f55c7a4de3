export const frame = (text) => `[${text}]`;
