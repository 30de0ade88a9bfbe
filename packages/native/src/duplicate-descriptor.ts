import { addon } from "./addon.js";

const native = addon as { duplicateDescriptor(descriptor: number): number };

/**
 * Another descriptor of the same open file or socket, which the caller closes; processes that are started do not get it. Throws an
 * `Error` with code EBADF where there is no such descriptor, EMFILE where the process may open no more.
 */
export const duplicateDescriptor = (descriptor: number): number => native.duplicateDescriptor(descriptor);
