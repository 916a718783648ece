/** The version of this package, for its manifest. */
export const VERSION = '0.1.0';
