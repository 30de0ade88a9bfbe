/** Whether a host, as it stands in a URL or is listened on, is this machine and no other. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|.+\.localhost|\[?::1\]?|127(?:\.\d{1,3}){3})$/.test(host);
}
