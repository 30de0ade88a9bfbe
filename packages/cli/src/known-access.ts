/** The file in a data folder with the roles and users that its process knew last. */
export const KNOWN_ACCESS = "access.json";
